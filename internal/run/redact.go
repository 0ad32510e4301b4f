package run

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "…"

// login is the user and password in an address (the user information of RFC 3986, section
// 3.2.1). A password is often typed as it is, with an @ in it, so everything up to
// the last one before the next space or quote goes.
var login = regexp.MustCompile(`://[^\s"'<>|]*@`)

// cutLogin is the same of an address that was cut before its @: a name, a colon
// and what is no port, at the end of the text or of what is quoted.
var cutLogin = regexp.MustCompile(`://[^\s"'<>|/@:[]+:[^\s"'<>|/@]*[^\s"'<>|/@0-9][^\s"'<>|/@]*($|["'\s])`)

// privateKey is a key in PEM, whole or cut at its end.
var privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// Redact is text without secrets: logins of addresses and private keys. Every text
// that leaves the product (errors of programs, log, status, results of actions)
// passes here.
func Redact(text string) string {
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = privateKey.ReplaceAllString(text, hidden)
	}
	if !strings.Contains(text, "://") {
		return text
	}
	return cutLogin.ReplaceAllString(login.ReplaceAllString(text, "://"+hidden+"@"), "://"+hidden+"$1")
}

// HasLogin says whether text holds an address with a login, so that a file with it
// is for root alone to read.
func HasLogin(text string) bool { return login.MatchString(text) }

// minSecret is the length, in bytes, below which a password is hidden only where it
// stands in an address: hiding every "a" would leave nothing to read.
const minSecret = 4

// redact is text without secrets, as [Redact], and without the passwords that the
// command was given, or inherits, in addresses, wherever they stand: programs
// repeat them without the address, or decoded.
func (c Command) redact(text string) string {
	text = Redact(text)
	for _, given := range slices.Concat(c.Args, c.Env, []string{string(c.Stdin)}, proxies()) {
		for _, found := range login.FindAllString(given, -1) {
			_, password, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(found, "://"), "@"), ":")
			forms := []string{password}
			if decoded, err := url.PathUnescape(password); err == nil {
				forms = append(forms, decoded)
			}
			for _, form := range forms {
				if len(form) >= minSecret {
					text = strings.ReplaceAll(text, form, hidden)
				}
			}
		}
	}
	return text
}

// proxies are the variables of this process in which an operator puts a login.
func proxies() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
}
