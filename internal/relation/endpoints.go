package relation

// Endpoints are all of the charm's.
func Endpoints() []string {
	return []string{Peer, Certificates, OVSDB, CMS, Server, NRPE, Metrics, COSAgent}
}
