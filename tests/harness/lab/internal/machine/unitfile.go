package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// unitDir is where packages put their unit files.
const unitDir = "/lib/systemd/system"

// unitFile is what the lab needs of a unit file (systemd.unit(5),
// systemd.service(5)).
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

// errNoUnit is the error for a unit that no package of the machine has.
var errNoUnit = errors.New("unit not found")

// unit loads a unit by its name, or by an alias that is enabled.
func (m *Machine) unit(name string) (*unitFile, error) {
	link := m.unitLink(name)
	if target, err := os.Readlink(link); err == nil {
		if target == os.DevNull {
			return &unitFile{name: name, path: link, masked: true}, nil
		}
		name = strings.TrimSuffix(filepath.Base(target), ".service")
	} else if text, err := os.ReadFile(link); err == nil { // an administrator's own
		return m.parseUnit(name, link, string(text)), nil
	}
	if target, err := os.Readlink(m.path(filepath.Join(runtimeDir, name+".service"))); err == nil && target == os.DevNull {
		return &unitFile{name: name, path: link, masked: true, runtime: true}, nil
	}
	return m.packagedUnit(name)
}

// packagedUnit loads a unit file that an installed package has.
func (m *Machine) packagedUnit(name string) (*unitFile, error) {
	if !m.ships(name) {
		return nil, errNoUnit
	}
	path := filepath.Join(unitDir, name+".service")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoUnit
	}
	if err != nil {
		return nil, err
	}
	return m.parseUnit(name, path, string(text)), nil
}

func (m *Machine) parseUnit(name, path, text string) *unitFile {
	// %t is /run for the system's services, %n the unit's full name.
	specifier := strings.NewReplacer("%%", "%", "%t", "/run", "%n", name+".service")
	u := &unitFile{name: name, path: path, kind: "simple", restart: "no", stopTimeout: defaultStopTimeout}
	dropIns, _ := filepath.Glob(m.unitLink(name) + ".d/*.conf")
	for _, file := range dropIns {
		if more, err := os.ReadFile(file); err == nil {
			text += "\n" + string(more)
		}
	}
	names := map[string]*[]string{"Wants": &u.wants, "PartOf": &u.partOf, "WantedBy": &u.wantedBy, "Alias": &u.aliases}
	commands := map[string]*[]string{"ExecCondition": &u.conditions, "ExecStart": &u.start, "ExecStop": &u.stop}
	texts := map[string]*string{"Type": &u.kind, "EnvironmentFile": &u.environment, "PIDFile": &u.pidFile, "Restart": &u.restart}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(key, "#") || strings.HasPrefix(key, ";") {
			continue
		}
		key, value = strings.TrimSpace(key), specifier.Replace(strings.TrimSpace(value))
		switch {
		case names[key] != nil:
			*names[key] = append(*names[key], strings.Fields(strings.ReplaceAll(value, ".service", ""))...)
		case commands[key] != nil:
			*commands[key] = append(*commands[key], value)
		case texts[key] != nil:
			*texts[key] = value
		case key == "RemainAfterExit":
			u.remainAfterExit = value == "yes"
		case key == "TimeoutStopSec":
			if d, err := time.ParseDuration(value + "s"); err == nil {
				u.stopTimeout = d
			}
		}
	}
	u.environment, u.pidFile = m.path(strings.TrimPrefix(u.environment, "-")), m.path(u.pidFile)
	return u
}

// words splits a command of a unit file as systemd does (systemd.service(5),
// "Command lines"): $NAME as a word of its own becomes the variable's words,
// ${NAME} anywhere becomes its value, and there is no shell.
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

// split splits at white space outside quotes, and takes the quotes away.
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
