package machine

import "strings"

// parseEnvironment reads an EnvironmentFile as systemd does (systemd.exec(5)), in the forms that
// packages, charms and tests write: comments with # or ; at a line's beginning, lines KEY=VALUE, a
// backslash that joins the next line, and double quotes around a value. White space around a value
// is dropped.
func parseEnvironment(text string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			value = strings.TrimSuffix(inner, `"`)
		}
		variables[name] = value
	}
	return variables
}
