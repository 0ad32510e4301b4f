package relation

import "slices"

// Data are what was read of one owner's data on a relation. That they could not be
// read, that nothing stands there yet, and what stands there are three things that
// must not be taken for each other. The zero value are data that were not read.
type Data struct {
	read   bool
	values map[string]string
}

// Read are data that were read; without values they are empty, not unread.
func Read(values map[string]string) Data { return Data{read: true, values: values} }

// Unread says that nothing is known of the data.
func (d Data) Unread() bool { return !d.read }

// jujusKeys are those that Juju itself writes into the data of each unit (defaults
// of network-get; worker/uniter and state/relationunit.go).
var jujusKeys = []string{"egress-subnets", "ingress-address", "private-address"}

// Empty says that the data were read, and that the owner has written nothing yet.
func (d Data) Empty() bool {
	for key, value := range d.values {
		if value != "" && !slices.Contains(jujusKeys, key) {
			return false
		}
	}
	return d.read
}

// Values are the data as they stand there; nil where they are unread.
func (d Data) Values() map[string]string { return d.values }
