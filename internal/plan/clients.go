package plan

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

// SettledObservations is how many observations of a server's clients show whether they have settled.
const SettledObservations = 5

// The part of clients that may stay busy, since they don't read or always receive something, is at most one in so many.
const idlePerBusy = 20

// ClientsSettled reports, by the last observations, whether a server's clients have connected and received their data:
// no client connected since the first observation, and in one of them almost nothing was in flight. Without clients, no
// client has to wait during a restart.
//
// Clients of a server that stops connect to another at once, and stay there (reconnect_set_backoff_free_tries() in
// OVS's lib/reconnect.c): the next member sees those that the restart of one has moved.
func ClientsSettled(looks []ovndb.Clients) bool {
	if len(looks) == 0 {
		return false
	}
	if looks[len(looks)-1].Connected == 0 {
		return true
	}
	if len(looks) < SettledObservations {
		return false
	}
	looks = looks[len(looks)-SettledObservations:]
	idle := false
	for i, look := range looks {
		if i > 0 && look.Connected > looks[i-1].Connected {
			return false
		}
		idle = idle || look.Busy*idlePerBusy <= look.Connected
	}
	return idle
}

// A published count of clients stays while it is about right, since each change runs a hook on all peers.
const (
	clientsSlack = 5
	clientsShare = 4
)

// AboutClients is the count to publish: the previous one if the present one differs by few, or by less than a quarter.
func AboutClients(told, now int) int {
	if difference := max(told-now, now-told); difference <= clientsSlack || difference*clientsShare <= told {
		return told
	}
	return now
}
