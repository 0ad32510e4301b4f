package relation

import "slices"

// Data is what one owner has published on a relation. Unread, empty and present data are three different states. The
// zero value is unread.
type Data struct {
	read   bool
	values map[string]string
}

// Read makes data that was read; without values it is empty, not unread.
func Read(values map[string]string) Data { return Data{read: true, values: values} }

// Unread reports whether nothing is known about the data.
func (d Data) Unread() bool { return !d.read }

// jujusKeys are the keys that Juju itself writes into the data of each unit (defaults of network-get; worker/uniter and
// state/relationunit.go).
var jujusKeys = []string{"egress-subnets", "ingress-address", "private-address"}

// Empty reports whether the data was read and the owner has written nothing yet.
func (d Data) Empty() bool {
	for key, value := range d.values {
		if value != "" && !slices.Contains(jujusKeys, key) {
			return false
		}
	}
	return d.read
}

// Values are the published values; nil if unread.
func (d Data) Values() map[string]string { return d.values }
