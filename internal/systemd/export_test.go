package systemd

// ParseDefaults parses the options of ovn-ctl in an EnvironmentFile.
func ParseDefaults(text []byte) map[string]string {
	return parseOptions(ParseEnvironment(text)[optionsVariable])
}
