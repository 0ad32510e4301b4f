package run

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// hidden replaces a secret.
const hidden = "…"

// login matches the user and password in a URL (the user information of RFC 3986, section 3.2.1). People often type a
// password unescaped, with an @ in it, so the match extends to the last @ before the next space or quote.
var login = regexp.MustCompile(`://[^\s"'<>|]*@`)

// cutLogin matches a URL that was cut before its @: a name, a colon and something other than a port, at the end of the
// text or quotation.
var cutLogin = regexp.MustCompile(`://[^\s"'<>|/@:[]+:[^\s"'<>|/@]*[^\s"'<>|/@0-9][^\s"'<>|/@]*($|["'\s])`)

// privateKey matches a key in PEM, even if its end is missing.
var privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// Redact returns text without secrets: credentials in URLs and private keys. Every text that leaves the product (errors
// of programs, log, status, results of actions) passes through it.
func Redact(text string) string {
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = privateKey.ReplaceAllString(text, hidden)
	}
	if !strings.Contains(text, "://") {
		return text
	}
	return cutLogin.ReplaceAllString(login.ReplaceAllString(text, "://"+hidden+"@"), "://"+hidden+"$1")
}

// HasLogin reports whether text has a URL with credentials. Then only root may be able to read a file with text.
func HasLogin(text string) bool { return login.MatchString(text) }

// minSecret is the length, in bytes, below which a password is hidden only within a URL. If every "a" were hidden,
// the text would be unreadable.
const minSecret = 4

// redact is like [Redact]. It also hides, anywhere in the text, the passwords in URLs that the command was given or
// inherits: programs repeat them without the URL, or decoded.
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

// proxies returns the variables of this process that may contain a login.
func proxies() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
}
