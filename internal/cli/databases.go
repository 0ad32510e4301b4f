package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/render"
	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// databaseFlags select the databases, and the form of an answer.
type databaseFlags struct {
	nb, sb      string
	credentials ovndb.Credentials
	output      string
	getenv      func(string) string
	// program is the text before a typed command, which may have several words.
	program string
	// typed are the typed flags of databases.
	typed [][2]string
	// elsewhere explains how to name databases on another machine; empty if all are named.
	elsewhere string
}

// add adds the flags to a group of commands.
func (f *databaseFlags) add(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&f.nb, "nb", "", "where the Northbound database is: unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, "+
		"several with commas (default $OVN_NB_DB, else this machine's)")
	flags.StringVar(&f.sb, "sb", "", "where the Southbound database is (default $OVN_SB_DB, else this machine's)")
	flags.StringVar(&f.credentials.Key, "private-key", "", "key for ssl:")
	flags.StringVar(&f.credentials.Certificate, "certificate", "", "certificate for ssl:")
	flags.StringVar(&f.credentials.CA, "ca-cert", "", "certificate of the CA for ssl:")
	addOutput(c, flags, &f.output)
	for _, name := range []string{"private-key", "certificate", "ca-cert"} {
		offer(c, name, files)
	}
	c.PersistentPreRunE = refuseEmpty
}

// refuseEmpty refuses a flag with an empty value, as from a script with an unset variable: --revert "$PLAN" would
// move gateways instead of reverting a plan, and --nb "$CLOUD" would select the databases of this machine.
func refuseEmpty(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		empty := flag.Value.String() == "" && flag.Name != "reason" // an empty reason means no reason
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil {
			err = usageErrorf("--%s is empty", flag.Name)
		}
	})
	return err
}

// complete sets defaults, as ovn-nbctl(8) and ovn-sbctl(8) do, and returns an error for invalid flags.
func (f *databaseFlags) complete() error {
	f.typed = [][2]string{{"--nb", f.nb}, {"--sb", f.sb}}
	from, unnamed := [2]string{"--nb", "--sb"}, []string{}
	for i, x := range []struct {
		to       *string
		variable string
		db       ovndb.Database
	}{{&f.nb, "OVN_NB_DB", ovndb.NB}, {&f.sb, "OVN_SB_DB", ovndb.SB}} {
		switch value := f.getenv(x.variable); {
		case *x.to != "":
		case value != "":
			*x.to, from[i] = value, x.variable
		default:
			unnamed = append(unnamed, from[i]+" or "+x.variable)
			f.elsewhere = string(x.db) + " is this machine's, unless it is named "
			*x.to = "unix:" + ovndb.PathsFromEnv(f.getenv).Socket(x.db)
		}
	}
	switch by := "by " + strings.Join(unnamed, ", and "); len(unnamed) {
	case 1:
		f.elsewhere += by
	case 2:
		f.elsewhere = "name databases that are not on this machine " + by
	}
	if err := f.check(from); err != nil || !f.secure() {
		return err
	}
	return f.readCredentials()
}

// check returns an error for invalid flags. from are the flags or variables that name the databases.
func (f *databaseFlags) check(from [2]string) error {
	for i, list := range []string{f.nb, f.sb} {
		switch {
		case list == "":
			return usageErrorf("%s is missing: a database such as unix:/var/run/ovn/ovnnb_db.sock", from[i])
		case !endpoints(list):
			return usageErrorf("%s %q is not unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, nor several of them with commas",
				from[i], list)
		}
	}
	switch {
	case f.secure() && (f.credentials.Key == "" || f.credentials.Certificate == "" || f.credentials.CA == ""):
		return usageErrorf("ssl: needs --private-key, --certificate and --ca-cert")
	}
	return checkForm(f.output)
}

// secure reports whether a connection uses TLS.
func (f *databaseFlags) secure() bool { return strings.Contains(f.nb+","+f.sb, "ssl:") }

// credentialFlags returns the flags for TLS files, with their values.
func (f *databaseFlags) credentialFlags() [][2]string {
	return [][2]string{
		{"--private-key", f.credentials.Key},
		{"--certificate", f.credentials.Certificate},
		{"--ca-cert", f.credentials.CA},
	}
}

// readCredentials checks the TLS files. An error names the flag of the file.
func (f *databaseFlags) readCredentials() error {
	var contents [][]byte
	for _, x := range f.credentialFlags() {
		content, err := os.ReadFile(x[1])
		if err != nil {
			return usageErrorf("%s: %w", x[0], err)
		}
		contents = append(contents, content)
	}
	if _, err := tls.X509KeyPair(contents[1], contents[0]); err != nil {
		return usageErrorf("--certificate %s and --private-key %s: %w", f.credentials.Certificate, f.credentials.Key, err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(contents[2]) {
		return usageErrorf("--ca-cert %s: there is no certificate in it", f.credentials.CA)
	}
	return nil
}

// endpoints reports whether a text has the form of a list of endpoints.
func endpoints(list string) bool {
	return !slices.ContainsFunc(strings.Split(list, ","), func(e string) bool {
		switch protocol, rest, _ := strings.Cut(e, ":"); protocol {
		case "unix":
			return rest == ""
		case "tcp", "ssl":
			host, port, err := net.SplitHostPort(rest)
			_, invalid := strconv.ParseUint(port, 10, 16)
			return err != nil || host == "" || invalid != nil
		}
		return true
	})
}

// words returns the typed flags, for printed commands.
func (f *databaseFlags) words() (words []string) {
	for _, flag := range slices.Concat(f.typed, f.credentialFlags()) {
		if flag[1] != "" {
			words = append(words, flag[0], flag[1])
		}
	}
	return words
}

// line formats a command of this program.
func (f *databaseFlags) line(words ...[]string) string {
	return f.program + " " + shell.Line(slices.Concat(words...)...)
}

// service returns a service for the databases. Call end before printing anything else, and when done.
func (f *databaseFlags) service(cmd *cobra.Command, progress io.Writer) (s *gateway.Service, end func()) {
	say, quiet := reassure(cmd.ErrOrStderr(), progress, "asking "+f.nb+", "+f.sb+" and the ovn-controllers")
	s = &gateway.Service{
		Dialer: &ovsdb.Dialer{Credentials: f.credentials}, NB: strings.Split(f.nb, ","), SB: strings.Split(f.sb, ","),
		NorthdTimeout: gateway.DefaultNorthdTimeout, Now: time.Now,
		By: operator(f.getenv), Elsewhere: f.elsewhere,
		Progress: func(_ context.Context, line string) { say(line) },
	}
	return s, func() {
		s.Close()
		quiet()
	}
}

// patience is the longest silence at a command's start. After that, it reports after each [pause] that it still
// works.
const (
	patience = 2 * time.Second
	pause    = 10 * time.Second
)

// reassure returns say, which prints a line of progress to out, and end, which ends all printing. If nothing is
// printed for a while, it prints a line to stderr; the first line tells what the command does.
func reassure(stderr, out io.Writer, what string) (say func(line string), end func()) {
	var mu sync.Mutex
	since := time.Now()
	next := since.Add(patience)
	var timer *time.Timer
	ended := false
	mu.Lock()
	timer = time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		if now := time.Now(); !now.Before(next) {
			fmt.Fprintf(stderr, "… %s (%.0f s)\n", what, now.Sub(since).Seconds())
			next = now.Add(pause)
		}
		timer.Reset(time.Until(next))
	})
	mu.Unlock()
	say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, line)
		what = "still working"
		if next = time.Now().Add(pause); !ended {
			timer.Reset(pause)
		}
	}
	return say, func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// progress returns the writer for lines of progress: stderr if stdout has a document for a program.
func (f *databaseFlags) progress(cmd *cobra.Command) io.Writer {
	if f.output != "text" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// operator returns the person who runs the program, also with sudo(8), from SUDO_USER.
func operator(getenv func(string) string) string {
	name := getenv("SUDO_USER")
	if u, err := user.Current(); err == nil && name == "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return cmp.Or(name, "unknown")
	}
	return cmp.Or(name, "unknown") + "@" + host
}

// forms are the forms of a document.
var forms = []string{"text", "yaml", "json"}

// addOutput adds the flag for the form of a document.
func addOutput(c *cobra.Command, flags *pflag.FlagSet, output *string) {
	flags.StringVarP(output, "output", "o", "text", "text, yaml or json")
	flags.StringVar(output, "format", "text", "as the actions' parameter is called")
	flags.Lookup("format").Hidden = true
	offer(c, "output", fixed(forms...))
	offer(c, "format", fixed(forms...))
}

// checkForm returns an error if there is no such form.
func checkForm(output string) error {
	if !slices.Contains(forms, output) {
		return usageErrorf("--output %q: must be text, yaml or json", output)
	}
	return nil
}

// show prints a document in the requested form.
func show[T any](out io.Writer, output string, d T, text func(T) string) (err error) {
	shown := strings.TrimSuffix(text(d), "\n")
	switch output {
	case "yaml":
		shown, err = render.YAML(document.ForPrograms(d))
	case "json":
		shown, err = render.JSON(document.ForPrograms(d))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, shown)
	return err
}

// inTerminal formats an answer for people, without its code.
func inTerminal(s answer.Status) string {
	verdict := ""
	if !s.OK() {
		verdict = "error: "
	}
	return strings.Replace(document.Answer(s), fmt.Sprintf("%s (%d %s): ", s.Status, s.Code, s.Reason), verdict, 1)
}

// answer shows the result of an operation; failures, for people, on stderr.
func (f *databaseFlags) answer(cmd *cobra.Command, status answer.Status) error {
	if err := cmd.Context().Err(); err != nil && status.Reason == answer.ClusterNotAccessible {
		return err // the status has only the consequence of the interruption
	}
	out := cmd.OutOrStdout()
	if !status.OK() && f.output == "text" {
		out = cmd.ErrOrStderr()
	}
	if err := show(out, f.output, status, inTerminal); err != nil || status.OK() {
		return err
	}
	failed := errors.New(status.Message)
	unconfirmed := []string{string(finding.Unconfirmed), string(finding.NodeUnconfirmed)}
	if status.Reason == answer.BadRequest && !slices.Contains(unconfirmed, status.Metadata["finding"]) {
		failed = usageError{failed}
	}
	if f.output == "text" {
		failed = shownError{failed}
	}
	return failed
}

// failed shows the error of a command that has shown nothing yet. A program gets an answer in place of a document.
func (f *databaseFlags) failed(cmd *cobra.Command, err error) error {
	var refused *answer.RefusedError
	switch reasons := finding.Reasons(err); {
	case errors.As(err, &refused):
		return f.answer(cmd, refused.Status)
	case err == nil || f.output == "text" || errors.As(err, new(usageError)) || cmd.Context().Err() != nil:
		return err
	case len(reasons) > 0:
		return f.answer(cmd, answer.Of(answer.Conflict, reasons[0]))
	}
	return f.answer(cmd, answer.Of(answer.ClusterNotAccessible,
		finding.New(finding.NodesUnread, finding.Subject{}, finding.Quote(err.Error()).Args())))
}
