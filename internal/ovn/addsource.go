package ovn

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// keyServer is where a key is fetched that is given by its ID. Ubuntu's
// add-apt-repository asks the same one.
const keyServer = "https://keyserver.ubuntu.com/pks/lookup"

// keyTimeout bounds the fetch of a key.
const keyTimeout = time.Minute

// AddSource makes packages come from the source too, and fetches their lists. The
// sources that are there stay; so does what a former source has installed. Lists
// that can't be fetched are an error: the payload would come from elsewhere.
func (p Packages) AddSource(ctx context.Context, s Source) error {
	if err := p.addSource(ctx, s); err != nil {
		return fmt.Errorf("cannot add the package source %s: %w", run.Redact(s.Line+s.Repository), err)
	}
	return p.update(ctx, "--option", "APT::Update::Error-Mode=any")
}

func (p Packages) addSource(ctx context.Context, s Source) error {
	if s.Keyring != "" {
		if err := p.apt(ctx, "install", s.Keyring); err != nil {
			return err
		}
	}
	if err := p.trust(ctx, s); err != nil {
		return err
	}
	if s.File != "" {
		mode := fs.FileMode(0o644)
		if run.HasLogin(s.Line) {
			mode = 0o600
		}
		if _, err := atomicfile.WriteIfChanged(filepath.Join(p.Paths.Apt(), "sources.list.d", s.File), []byte(s.Line+"\n"), mode); err != nil {
			return err
		}
	}
	if s.Repository != "" {
		return p.addRepository(ctx, s.Repository)
	}
	return nil
}

// trust puts the key of the source where apt looks for keys. One that was fetched
// by its ID is not fetched again.
func (p Packages) trust(ctx context.Context, s Source) error {
	key, name := s.Key, strings.TrimSuffix(s.File, ".list")
	if s.KeyID != "" {
		name = s.KeyID
	}
	path := filepath.Join(p.Paths.Apt(), "trusted.gpg.d", name+".asc")
	if s.KeyID != "" {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		var err error
		if key, err = p.fetchKey(ctx, s.KeyID); err != nil {
			return err
		}
	}
	if key == "" {
		return nil
	}
	_, err := atomicfile.WriteIfChanged(path, []byte(key), 0o644)
	return err
}

// addRepository leaves a personal archive to Ubuntu's own tool, which finds its
// address and key.
func (p Packages) addRepository(ctx context.Context, repository string) error {
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	if err := p.apt(ctx, "install", "software-properties-common"); err != nil {
		return err
	}
	return p.unlocked(ctx, []string{"add-apt-repository", "--yes", "--no-update", repository})
}

// fetchKey asks the key server for the key with this ID.
func (p Packages) fetchKey(ctx context.Context, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	query := url.Values{"op": {"get"}, "options": {"mr"}, "exact": {"on"}, "search": {"0x" + id}}
	args := []string{"--fail", "--silent", "--show-error", keyServer + "?" + query.Encode()}
	out, err := p.Runner.Run(ctx, run.Command{Name: "curl", Args: args, Env: p.proxies()})
	if err != nil {
		return "", fmt.Errorf("cannot fetch the key %s: %w", id, err)
	}
	if !isArmoured(string(out)) {
		return "", fmt.Errorf("cannot fetch the key %s: the key server's answer is none; "+
			"put the whole key behind | instead", id)
	}
	return strings.TrimSpace(string(out)) + "\n", nil
}
