package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// credentials are the credentials on a unit's disk, in a form in which two states can be compared.
type credentials struct{ key, certificate, ca string }

// written is one observed write of a unit's certificates.
type written struct {
	unit string
	what string
	at   time.Time
}

// watch observes the certificates of units again and again: which unit has written which of them, in which order, and
// whether a unit ever used a certificate that another one did not trust.
type watch struct {
	units  []*lab.Unit
	end    func()
	writes []written
	broken []string
}

func watchCertificates(t *testing.T, units []*lab.Unit) *watch {
	t.Helper()
	w, last := &watch{units: units}, map[string]credentials{}
	w.look(last)
	w.writes = nil
	w.end = labtest.Watch(t.Context(), 2*time.Millisecond, func() { w.look(last) })
	t.Cleanup(w.end)
	return w
}

// look reads the certificates twice, and the CAs in between: a certificate that was the same both times was used with
// these CAs.
func (w *watch) look(last map[string]credentials) {
	before, trusted := map[string]string{}, map[string]string{}
	for _, u := range w.units {
		before[u.Name()] = text(u, "cert_host")
	}
	for _, u := range w.units {
		trusted[u.Name()] = text(u, "ovn-central.crt")
	}
	for _, u := range w.units {
		now := credentials{text(u, "key_host"), text(u, "cert_host"), trusted[u.Name()]}
		for _, other := range w.units {
			if before[u.Name()] != now.certificate {
				break
			}
			_, problem := tls.Check(tls.Credentials{
				Key: []byte(now.key), Certificate: []byte(now.certificate), CA: []byte(trusted[other.Name()]),
			}, nil, time.Now())
			halfway := problem.Code == finding.KeyDiffers // between the two renames the server has the old pair
			if !problem.IsZero() && !halfway {
				w.broken = append(w.broken, fmt.Sprintf("%s does not trust %s: %v", other.Name(), u.Name(), problem))
			}
		}
		if now.ca != last[u.Name()].ca {
			w.writes = append(w.writes, written{u.Name(), fmt.Sprintf("%d CAs", strings.Count(now.ca, "BEGIN")), labtest.Modified(u, "ovn-central.crt")})
		}
		if now.certificate != last[u.Name()].certificate {
			w.writes = append(w.writes, written{u.Name(), "certificate", labtest.Modified(u, "cert_host")})
		}
		last[u.Name()] = now
	}
}

func text(u *lab.Unit, name string) string {
	data, _ := os.ReadFile(filepath.Join(u.SysconfDir(), "ovn", name)) // replaced atomically: it always exists
	return string(data)
}

// order returns the kinds of the writes and their units, in the order of the writes.
func (w *watch) order() (kinds, units []string) {
	slices.SortStableFunc(w.writes, func(a, b written) int { return a.at.Compare(b.at) })
	for _, x := range w.writes {
		kinds, units = append(kinds, x.what), append(units, x.unit)
	}
	return kinds, units
}

// holders returns a stream of the successive holders of a database's lock.
func holders(c *labtest.Model, u *lab.Unit) *stream {
	c.T.Helper()
	return follow(c, u, 6641, "OVN_Northbound", "NB_Global", "external_ids", c.ClientCredentials())
}

// turns returns the units that had the lock, in order.
func turns(t *testing.T, locks *stream) (units []string) {
	t.Helper()
	data, err := os.ReadFile(locks.output)
	require.NoError(t, err)
	for _, part := range strings.Split(string(data), "ovn-central:membership")[1:] {
		part, _, _ = strings.Cut(part, "ovn-central:agent") // the agent's record has a holder, too
		_, part, held := strings.Cut(part, `\"holder\":\"`)
		name, _, _ := strings.Cut(part, `\"`)
		if held && (len(units) == 0 || units[len(units)-1] != name) {
			units = append(units, name)
		}
	}
	return units
}
