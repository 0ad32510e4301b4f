package relation

// Endpoints are all endpoints of the charm.
func Endpoints() []string {
	return []string{Peer, Certificates, OVSDB, CMS, Server, NRPE, Metrics, COSAgent}
}
