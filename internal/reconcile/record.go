package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// record is what this unit keeps of itself on its disk, beside the databases:
// what an operator has asked of it, and what can't be seen from outside.
type record struct {
	// Unit is whose record it is, Model the UUID of the model that it is in: the machine may
	// have had another unit, which was removed by force. A release before this one did not say.
	Unit  string `json:"unit,omitempty"`
	Model string `json:"model,omitempty"`
	// Installing says that the hook install is where it was written. That of a unit whose install has
	// ended, on a machine where install runs, is another unit's of the same name.
	Installing bool `json:"installing,omitempty"`
	// Known is false until the first hook of this charm on the machine.
	Known bool `json:"known"`
	// Adopted says that another charm had installed the packages.
	Adopted bool `json:"adopted,omitempty"`
	// Source stands for what the packages were last taken from.
	Source string `json:"source,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	// NorthdHeld says that an operator keeps ovn-northd from running here.
	NorthdHeld bool `json:"northd-held,omitempty"`
	// Northd is what was last found of all units' ovn-northd.
	Northd plan.Northd `json:"northd,omitzero"`
	// Pending are the restarts that are due, each with its reason.
	Pending map[ovndb.Service]string `json:"pending,omitempty"`
	// Running is the version that each service was started with.
	Running map[ovndb.Service]ovndb.Version `json:"running,omitempty"`
	// Invocations are those under which systemd ran each service when it was last seen; there is
	// none where a restart was noted since, which may have come after the service's start.
	Invocations map[ovndb.Service]string `json:"invocations,omitempty"`
	// Compared says for which packages, and which term of this unit's own, the schema of
	// each database was last found to be the packages' or a newer one.
	Compared map[ovndb.Database]string `json:"compared,omitempty"`
	// Firewall are the rules as they were last set.
	Firewall string `json:"firewall,omitempty"`
	// FirewallClients are the clients in them: `update-status` asks Juju for none. Nil is not known.
	FirewallClients []netip.Addr `json:"firewall-clients"`
	// FirewallFailure is why they could not be set the last time, for people.
	FirewallFailure string `json:"unguarded,omitempty"`
	// PolicyFailure is why packages could not be told whether they may restart services the
	// last time, for people.
	PolicyFailure string `json:"policy-failure,omitempty"`
	// Told stands for what the peers were last told in a hook that told them all.
	Told string `json:"told,omitempty"`
	// Clients is how many clients of each server the peers were last told of.
	Clients map[ovndb.Database]int `json:"clients,omitempty"`
	// Published is the address that each client relation was last told; Ports and
	// Version what Juju was.
	Published map[string]string `json:"published,omitempty"`
	Ports     []int             `json:"ports,omitempty"`
	Version   string            `json:"version,omitempty"`
	// LeaderSettings are the settings of the Juju leader, as last read.
	LeaderSettings map[string]string `json:"leader-settings,omitempty"`
	// Withdrawn is the Northbound cluster that this unit has claimed and put away since.
	Withdrawn raft.ID `json:"withdrawn,omitempty"`
	// Requests are the recoveries that this unit was asked for; Refused is why the last
	// one of a database was withdrawn. Held is the unit for whose request a server was
	// stopped.
	Requests map[ovndb.Database]recovery.Request `json:"recovery,omitempty"`
	Refused  map[ovndb.Database]string           `json:"recovery-refused,omitempty"`
	Held     map[ovndb.Database]string           `json:"held-for,omitempty"`
	// Asks is when this unit, as the one that leads the application, has asked the units
	// that were asked for a recovery whether they are there.
	Asks map[ovndb.Database]time.Time `json:"recovery-asks,omitempty"`
	// Remade is this unit's last request of each database for which the old cluster was replaced. New is the
	// cluster that replaced it; for a restore, the one that was made here of the backup, which another one may
	// have gone before. Restored are the backups that were restored.
	Remade   map[ovndb.Database]recovery.Request `json:"remade,omitempty"`
	Restored map[ovndb.Database][]restored       `json:"restored,omitempty"`
	// Rejoin are the servers that other units are asked to remove.
	Rejoin map[ovndb.Database]raft.ID `json:"rejoin,omitempty"`
	// Rejoined are those in whose place new ones have joined: the same action, run again,
	// proves that they serve.
	Rejoined map[ovndb.Database]raft.ID `json:"rejoined,omitempty"`
	// Related says that there was a relation to the provider of certificates when it was last asked
	// for.
	Related bool `json:"related,omitempty"`
	// Unrelated says that the relation to the provider of certificates was broken, and none
	// has come since.
	Unrelated bool `json:"unrelated,omitempty"`
	// Watch is what is remembered of monitoring.
	Watch monitoringState `json:"watch,omitzero"`
	// Agent is what is remembered of the agent.
	Agent agentRecord `json:"agent,omitzero"`
	// Backup is what is remembered of backups.
	Backup backupRecord `json:"backup,omitzero"`
	// Settled says that there was nothing left to do after the last hook, so that
	// `update-status` need not ask for everything.
	Settled bool `json:"settled,omitempty"`
}

// restored is a backup that was restored, and when that was asked for.
type restored struct {
	Backup string    `json:"backup"`
	At     time.Time `json:"at"`
}

// recordFile is not the cache of package observe: that is lost without harm,
// while a unit that is paused must stay so.
const recordFile = "ovn-central-operator.unit.json"

func (u *Reconciler) recordPath() string { return filepath.Join(u.Paths.DB, recordFile) }

// loadRecord reads the record. Where it can't be read, it is a new one.
func (u *Reconciler) loadRecord() (*record, error) {
	r := &record{}
	text, err := os.ReadFile(u.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return &record{}, fmt.Errorf("cannot read %s: %w", u.recordPath(), err)
	}
	if r.Unit != "" && !u.Env.Is(r.Unit, r.Model) {
		u.Log.Info("ignoring the record of another unit that was on this machine before", "unit", r.Unit, "model", r.Model)
		return &record{}, nil
	}
	return r, nil
}

// ForgetFormer removes what a unit of the same name remembered on this machine: Juju 4 numbers the units
// of an application that is deployed again from 0 (juju#21441), and runs no hook remove of one
// that is removed by force. It is for the hook install, whose own earlier tries it leaves.
func (u *Reconciler) ForgetFormer(ctx context.Context) error {
	r, err := u.loadRecord()
	if err == nil && r.Installing {
		return nil
	}
	for _, path := range []string{u.recordPath(), u.Observer.CachePath()} {
		switch err := os.Remove(path); {
		case err == nil:
			u.Log.InfoContext(ctx, "forgetting what a unit remembered that was on this machine before", "path", path)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("cannot forget the unit that was on this machine before: %w", err)
		}
	}
	return nil
}

func (u *Reconciler) saveRecord(r *record) error {
	r.Unit, r.Model = u.Env.Unit, u.Env.ModelUUID
	if u.Env.HookName != "" { // an action may come before install is tried again
		r.Installing = u.Env.HookName == "install"
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", u.recordPath(), err)
	}
	if err := os.MkdirAll(u.Paths.DB, 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", u.recordPath(), err)
	}
	_, err = atomicfile.WriteIfChanged(u.recordPath(), text, 0o600)
	return err
}

// started notes that a service runs what is installed.
func (r *record) started(service ovndb.Service, version ovndb.Version) {
	if r.Running == nil {
		r.Running = map[ovndb.Service]ovndb.Version{}
	}
	r.Running[service] = version
	delete(r.Pending, service)
}

// pending are the restarts that are due: those that were noted, and those of
// services that run another version than is installed, whatever installed it.
func (r *record) pending(installed ovndb.Version) map[ovndb.Service]string {
	all := maps.Clone(r.Pending)
	for service, running := range r.Running {
		if !running.Is(installed) && installed.OVN != "" {
			if all == nil {
				all = map[ovndb.Service]string{}
			}
			all[service] = running.Change(installed)
		}
	}
	return all
}

// bringUpToDate completes what the unit has recorded by what Juju and the machine say now, as a plan
// needs it. It writes nothing: that is for the caller, if it acts.
func (u *Reconciler) bringUpToDate(ctx context.Context, p pass) error {
	p.record.forget(p.progress.clusters)
	version, _, err := u.installed(ctx, p.progress)
	if err != nil {
		return err
	}
	u.complete(ctx, p.record, version)
	return nil
}

// observed drops what is over by what was observed.
func (r *record) observed(s plan.State) {
	r.seen(s.Services, s.Packages.Version)
	r.Northd = s.Northds
	for db, x := range s.Databases {
		if !asked(r, s, db) || !s.JujuLeader {
			delete(r.Asks, db)
		}
		if !x.MemberWithLeader() {
			continue
		}
		delete(r.Refused, db) // what was lost is back
		if x.Inconsistent == "" {
			r.rejoined(db, x.Status.Server)
		}
	}
}

// due notes that a service is to be restarted.
func (r *record) due(service ovndb.Service, reason string) {
	if r.Pending == nil {
		r.Pending = map[ovndb.Service]string{}
	}
	if r.Pending[service] == "" {
		r.Pending[service] = reason
	}
	delete(r.Invocations, service)
}
