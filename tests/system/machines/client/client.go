// Package client is an application related to ovn-central on its own machine: a chassis with a real ovn-controller, a
// CMS, and a writer that remembers what was acknowledged. It knows only the data of the relations ovsdb and ovsdb-cms,
// and its certificate is from the same CA.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

const dir = "/srv/client"

var tls = []string{"--private-key=" + dir + "/key.pem", "--certificate=" + dir + "/cert.pem", "--ca-cert=" + dir + "/ca.pem"}

const installTimeout = 5 * time.Minute

// Client is a client on a machine.
type Client struct {
	Machine *machines.Machine
	writing bool
}

// New installs OVN's clients, ovn-controller and Open vSwitch on a machine, with a certificate for its host name.
func New(ctx context.Context, m *machines.Machine, ca *vault.CA) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	if _, err := m.Shell(ctx, "apt-get -q update; apt-get -q -y install ovn-host openvswitch-switch"); err != nil {
		return nil, fmt.Errorf("cannot make %s a client: %w", m.Name(), err)
	}
	c := &Client{Machine: m}
	return c, errors.Join(c.Certify(ca), c.Trust(ca.PEM()))
}

// Certify gives the client a certificate of a CA.
func (c *Client) Certify(ca *vault.CA) error {
	name, now := c.Machine.Name(), time.Now()
	cert, key := ca.Issue(name, []string{name}, now.Add(-time.Hour), now.Add(24*time.Hour))
	return errors.Join(
		c.Machine.WriteFile(dir+"/key.pem", []byte(key), 0o600),
		c.Machine.WriteFile(dir+"/cert.pem", []byte(cert), 0o644))
}

// Trust makes the client accept certificates of some CAs only.
func (c *Client) Trust(cas ...string) error {
	return c.Machine.WriteFile(dir+"/ca.pem", []byte(strings.Join(cas, "\n")+"\n"), 0o644)
}

// Follow makes the client, and its writer if it runs, use the databases of units with this data on their relation, as
// neutron-api-plugin-ovn and ovn-chassis do: they know the ports, and the address is bound-address, a JSON string.
func (c *Client) Follow(ctx context.Context, units map[string]map[string]string) error {
	for name, port := range map[string]string{"nb": ":6641", "sb": ":16642", "chassis": ":6642"} {
		var remotes []string
		for unit, data := range units {
			var address string
			if err := json.Unmarshal([]byte(data["bound-address"]), &address); err != nil {
				return fmt.Errorf("cannot read bound-address of %s, %q: %w", unit, data["bound-address"], err)
			}
			remotes = append(remotes, "ssl:"+address+port)
		}
		slices.Sort(remotes)
		if err := c.Machine.WriteFile(dir+"/"+name+".new", []byte(strings.Join(remotes, ",")+"\n"), 0o644); err != nil {
			return err
		}
	}
	// Renamed at once, as the writer reads them at each write.
	_, err := c.Machine.Shell(ctx, `cd "$1"; for f in nb sb chassis; do mv $f.new $f; done`, dir)
	return err
}

// clientTimeout, in seconds, is longer than an election with a timer of 4 s.
const clientTimeout = "--timeout=20"

// NB runs ovn-nbctl as a CMS.
func (c *Client) NB(ctx context.Context, args ...string) (string, error) {
	return c.ctl(ctx, "ovn-nbctl", "nb", args)
}

// SB runs ovn-sbctl as a CMS, on the port without access control.
func (c *Client) SB(ctx context.Context, args ...string) (string, error) {
	return c.ctl(ctx, "ovn-sbctl", "sb", args)
}

// Chassis runs ovn-sbctl on the port of chassis.
func (c *Client) Chassis(ctx context.Context, args ...string) (string, error) {
	return c.ctl(ctx, "ovn-sbctl", "chassis", args)
}

func (c *Client) ctl(ctx context.Context, program, remotes string, args []string) (string, error) {
	list, err := c.Machine.ReadFile(dir + "/" + remotes)
	if err != nil {
		return "", err
	}
	command := append([]string{program, clientTimeout, "--db=" + strings.TrimSpace(string(list))}, tls...)
	return c.Machine.Exec(ctx, append(command, args...)...)
}

// BecomeChassis configures ovn-controller as ovn-chassis does, with the machine's name as that of the chassis: access
// control compares it with the name in the certificate.
func (c *Client) BecomeChassis(ctx context.Context) error {
	_, err := c.Machine.Shell(ctx,
		`printf 'OVN_CTL_OPTS="--ovn-controller-ssl-key=%s/key.pem --ovn-controller-ssl-cert=%s/cert.pem --ovn-controller-ssl-ca-cert=%s/ca.pem"\n' \
	"$1" "$1" "$1" >/etc/default/ovn-host
ovs-vsctl set open . external-ids:system-id="$(hostname)" external-ids:hostname="$(hostname)" \
	external-ids:ovn-encap-type=geneve external-ids:ovn-encap-ip="$2" \
	external-ids:ovn-bridge-datapath-type=netdev \
	"external-ids:ovn-remote=\"$(cat "$1/chassis")\""
systemctl restart ovn-controller`, dir, c.Machine.Address().String())
	return err
}

// FollowCertificate makes ovn-controller connect with the present certificate.
func (c *Client) FollowCertificate(ctx context.Context) error {
	_, err := c.Machine.Exec(ctx, "systemctl", "restart", "ovn-controller")
	return err
}
