package runtest

import (
	"fmt"
	"strings"
)

// Stopped returns the output of `systemctl show` for OVN's services if none of them runs.
func Stopped() []byte {
	var text strings.Builder
	for _, service := range []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-central"} {
		fmt.Fprintf(&text, "Id=%s.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nMainPID=0\n\n",
			service)
	}
	return []byte(strings.TrimSuffix(text.String(), "\n"))
}
