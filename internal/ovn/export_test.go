package ovn

import "context"

// ParseDefaults reads the options of ovn-ctl out of an EnvironmentFile.
func ParseDefaults(text []byte) Options { return parseOptions(parseEnvironment(text)[optionsVariable]) }

// Update fetches the lists of packages.
func (p Packages) Update(ctx context.Context) error { return p.update(ctx) }

// NorthdExit ends this unit's ovn-northd. Success only means that it has begun.
func (c Control) NorthdExit(ctx context.Context) error {
	_, err := c.askNorthd(ctx, "exit")
	return err
}

// CheckKey is checkKey.
var CheckKey = checkKey
