package apt

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// needrestart is the file that has needrestart, which Ubuntu runs after each apt-get, restart
// none of the services by itself where a library was upgraded: that program asks systemd,
// and not policy-rc.d. It reads the file where it comes to be installed later, too.
func (p Policy) needrestart() string {
	return filepath.Join(filepath.Dir(p.Paths.Etc), "needrestart", "conf.d", "charm-"+p.App+".conf")
}

// exempted is what is there: Perl, as needrestart's own needrestart.conf is.
func exempted() string {
	var conf strings.Builder
	conf.WriteString("# Managed by juju\n")
	for _, service := range slices.Sorted(slices.Values(ovndb.AllServices())) {
		fmt.Fprintf(&conf, "$nrconf{override_rc}->{qr(^%s\\.service$)} = 0;\n", regexp.QuoteMeta(string(service)))
	}
	return conf.String()
}
