package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
)

const unitDir = "/lib/systemd/system"

// unitFile has the options of a unit file that the lab implements (systemd.unit(5), systemd.service(5)).
type unitFile struct {
	name     string // without ".service"
	path     string
	masked   bool
	runtime  bool // masked until the next boot
	wants    []string
	partOf   []string
	wantedBy []string
	aliases  []string

	kind            string   // Type=
	conditions      []string // ExecCondition=
	start, stop     []string
	environment     string // EnvironmentFile=
	pidFile         string
	restart         string
	remainAfterExit bool
	stopTimeout     time.Duration
}

var errNoUnit = errors.New("unit not found")

// unit loads a unit by its name, or by an enabled alias.
func (m *Machine) unit(name string) (*unitFile, error) {
	link := m.unitLink(name)
	if target, err := os.Readlink(link); err == nil {
		if target == os.DevNull {
			return &unitFile{name: name, path: link, masked: true}, nil
		}
		name = strings.TrimSuffix(filepath.Base(target), ".service")
	} else if _, err := os.Stat(link); err == nil { // an administrator's own
		return m.readUnit(name, link)
	}
	if target, err := os.Readlink(m.path(filepath.Join(runtimeDir, name+".service"))); err == nil && target == os.DevNull {
		return &unitFile{name: name, path: link, masked: true, runtime: true}, nil
	}
	return m.packagedUnit(name)
}

func (m *Machine) packagedUnit(name string) (*unitFile, error) {
	if !m.ships(name) {
		return nil, errNoUnit
	}
	u, err := m.readUnit(name, filepath.Join(unitDir, name+".service"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoUnit
	}
	return u, err
}

// readUnit reads a unit file and its drop-ins, with the machine's paths.
func (m *Machine) readUnit(name, path string) (*unitFile, error) {
	// %t is /run for the system's services, %n the unit's full name.
	specifier := strings.NewReplacer("%%", "%", "%t", "/run", "%n", name+".service", "\\\n", " ")
	u := &unitFile{name: name, path: path, kind: "simple", restart: "no", stopTimeout: defaultStopTimeout}
	dropIns, _ := filepath.Glob(m.unitLink(name) + ".d/*.conf")
	for _, file := range append([]string{path}, dropIns...) {
		text, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) && file != path {
			continue // it has just been removed
		}
		if err != nil {
			return nil, err
		}
		options, err := unit.DeserializeOptions(text)
		text.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, option := range options {
			u.set(option.Name, specifier.Replace(option.Value))
		}
	}
	u.environment, u.pidFile = m.path(strings.TrimPrefix(u.environment, "-")), m.path(u.pidFile)
	return u, nil
}

func (u *unitFile) set(option, value string) {
	switch option {
	case "Wants":
		u.wants = append(u.wants, unitNames(strings.Fields(value))...)
	case "PartOf":
		u.partOf = append(u.partOf, unitNames(strings.Fields(value))...)
	case "WantedBy":
		u.wantedBy = append(u.wantedBy, strings.Fields(value)...)
	case "Alias":
		u.aliases = append(u.aliases, unitNames(strings.Fields(value))...)
	case "Type":
		u.kind = value
	case "ExecCondition":
		u.conditions = append(u.conditions, value)
	case "ExecStart":
		u.start = append(u.start, value)
	case "ExecStop":
		u.stop = append(u.stop, value)
	case "EnvironmentFile":
		u.environment = value
	case "PIDFile":
		u.pidFile = value
	case "Restart":
		u.restart = value
	case "RemainAfterExit":
		u.remainAfterExit = value == "yes"
	case "TimeoutStopSec":
		if d, err := time.ParseDuration(value + "s"); err == nil {
			u.stopTimeout = d
		}
	}
}

// words splits a command of a unit file as systemd does (systemd.service(5), "Command lines"): $NAME as a word of its
// own becomes the variable's words, ${NAME} anywhere becomes its value, and there is no shell.
func words(command string, variables map[string]string) []string {
	var result []string
	for _, word := range split(strings.TrimPrefix(command, "-")) {
		if name, is := strings.CutPrefix(word, "$"); is && !strings.HasPrefix(name, "{") && !strings.HasPrefix(name, "$") {
			result = append(result, split(variables[name])...)
			continue
		}
		result = append(result, os.Expand(word, func(name string) string {
			if name == "$" {
				return "$"
			}
			return variables[name]
		}))
	}
	return result
}

// split splits at white space outside quotes, and removes the quotes.
func split(text string) []string {
	var result []string
	var word strings.Builder
	open, quote := false, rune(0)
	flush := func() {
		if open {
			result = append(result, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && strings.ContainsRune(" \t\n\r", r):
			flush()
		default:
			open = true
			word.WriteRune(r)
		}
	}
	flush()
	return result
}

// parseEnvironment reads an EnvironmentFile as systemd does (systemd.exec(5)), in the forms that packages, charms and
// tests write: comment lines, KEY=VALUE, continuation by a backslash, and double quotes.
func parseEnvironment(text string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			value = strings.TrimSuffix(inner, `"`)
		}
		variables[name] = value
	}
	return variables
}
