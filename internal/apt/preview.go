package apt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Offer is what a package source offers.
type Offer struct {
	// Version has the newest version of each package in the source, or the installed version if the source has no newer
	// one.
	Version ovndb.Version
	// Schemas has the versions of the schemas in that package.
	Schemas map[ovndb.Database]string
}

// Preview returns what the given sources would offer in place of the charm's present ones. It changes nothing: apt
// works in a temporary directory. It fails for a personal archive, which only add-apt-repository can find.
func (p Packages) Preview(ctx context.Context, sources ...Source) (offer Offer, err error) {
	defer func() {
		if err != nil {
			offer, err = Offer{}, fmt.Errorf("cannot look into the package source: %w", err)
		}
	}()
	dir, err := os.MkdirTemp("", "ovn-central-upgrade-check-")
	if err != nil {
		return offer, err
	}
	defer os.RemoveAll(dir)
	if err := p.layOut(ctx, dir, sources); err != nil {
		return offer, err
	}
	options := []string{"--option", "APT::Sandbox::User=root"} // root owns the directory
	// These directories replace the machine's (apt.conf(5)).
	for key, value := range map[string]string{
		"Dir::Etc::SourceParts": sourcesDir, "Dir::State::Lists": "lists",
		"Dir::Cache::Archives": "archives", "Dir::Cache::PkgCache": "pkgcache.bin",
		"Dir::Cache::SrcPkgCache": "srcpkgcache.bin",
	} {
		options = append(options, "--option", key+"="+filepath.Join(dir, value))
	}
	if err := p.update(ctx, append(options, "--option", "APT::Update::Error-Mode=any")...); err != nil {
		return offer, err
	}
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	out, err := p.Runner.Run(ctx, run.Command{Name: "apt-cache", Args: append(options, "policy", payload, openvswitch)})
	if err != nil {
		return offer, err
	}
	candidates := parsePolicy(string(out))
	offer.Version = ovndb.Version{OVN: candidates[payload], OVS: candidates[openvswitch]}
	if offer.Version.OVN == "" {
		return offer, fmt.Errorf("it has no %s", payload)
	}
	// apt-get downloads into the current directory.
	command := append([]string{"env", "--chdir=" + dir, "apt-get", "--quiet"}, options...)
	if err := p.quietly(ctx, append(command, "download", payload+"="+offer.Version.OVN)...); err != nil {
		return offer, err
	}
	found, err := filepath.Glob(filepath.Join(dir, payload+"_*.deb"))
	if err != nil || len(found) != 1 {
		return offer, fmt.Errorf("apt-get has downloaded %d packages, not 1", len(found))
	}
	contents := filepath.Join(dir, "contents")
	if err := p.quietly(ctx, "dpkg-deb", "--extract", found[0], contents); err != nil {
		return offer, err
	}
	offer.Schemas = map[ovndb.Database]string{}
	for _, db := range ovndb.Databases() {
		schema := filepath.Join(contents, "usr/share/ovn", filepath.Base(p.Paths.Schema(db)))
		if offer.Schemas[db], err = raftfile.SchemaVersion(schema); err != nil {
			return offer, err
		}
	}
	return offer, nil
}

// layOut makes the directory in which apt works. It has the machine's own sources, and the given ones in place of the
// charm's.
func (p Packages) layOut(ctx context.Context, dir string, sources []Source) error {
	for _, name := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	ledger, err := p.readLedger()
	if err != nil {
		return err
	}
	var files []sourceFile
	for _, s := range sources {
		if s.Repository != "" {
			return errors.New("a personal archive can be looked into only once it was added")
		}
		of, err := p.sourceFiles(ctx, s, filepath.Join(dir, keysDir))
		if err != nil {
			return err
		}
		files = append(files, of...)
	}
	var leftOut []string
	if len(sources) > 0 {
		leftOut = ledger.without(files, nil)
	}
	return p.layOutSources(dir, leftOut, files)
}

// parsePolicy reads the candidates of packages from the output of `apt-cache policy`.
func parsePolicy(text string) map[string]string {
	candidates, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if found, is := strings.CutSuffix(line, ":"); is && !strings.HasPrefix(line, " ") {
			name = found
		}
		if version, is := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); is && version != "(none)" {
			candidates[name] = version
		}
	}
	return candidates
}
