package plan

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

// SettledObservations is how many observations of the clients of a server tell whether they have
// settled.
const SettledObservations = 5

// Clients that stay busy, since they don't read, or since there is always something to
// tell them, are one in so many at most.
const idlePerBusy = 20

// ClientsSettled says whether the clients of a server have come and have what they wanted, by
// the last looks at them: none has come since the first, and in one of the looks as
// good as nothing was on its way. Where there is no client, none is kept waiting by a
// restart.
//
// Clients of a server that ends connect to another at once, and then stay there
// (reconnect_set_backoff_free_tries() in OVS's lib/reconnect.c): those
// that the restart of one member has driven out are seen at the next.
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

// A count of clients that is told to the peers stays as long as it is about right, as
// each change makes all of them run a hook.
const (
	clientsSlack = 5
	clientsShare = 4
)

// AboutClients is the count to tell: the one that was told before where it differs
// from the present one by few, or by less than a quarter.
func AboutClients(told, now int) int {
	if difference := max(told-now, now-told); difference <= clientsSlack || difference*clientsShare <= told {
		return told
	}
	return now
}
