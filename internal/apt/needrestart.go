package apt

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// needrestart is a file that forbids needrestart, which Ubuntu runs after each apt-get, to restart the services
// after an upgrade of a library. needrestart asks systemd and ignores policy-rc.d. It also reads the file if it is
// installed later.
func (p Policy) needrestart() string {
	return filepath.Join(filepath.Dir(p.Paths.Etc), "needrestart", "conf.d", "charm-"+p.App+".conf")
}

// exempted is the file's content: Perl, like needrestart.conf.
func exempted() string {
	var conf strings.Builder
	conf.WriteString("# Managed by juju\n")
	for _, service := range slices.Sorted(slices.Values(ovndb.AllServices())) {
		fmt.Fprintf(&conf, "$nrconf{override_rc}->{qr(^%s\\.service$)} = 0;\n", regexp.QuoteMeta(string(service)))
	}
	return conf.String()
}
