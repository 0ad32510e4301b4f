package systemd

// ParseDefaults reads the options of ovn-ctl out of an EnvironmentFile.
func ParseDefaults(text []byte) Options { return parseOptions(ParseEnvironment(text)[optionsVariable]) }
