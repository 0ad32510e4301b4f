package juju

import (
	"context"
	"fmt"
	"maps"
)

// Config returns the options of the application, with the defaults of config.yaml filled in. A number is a
// [json.Number], a boolean a bool, anything else a string. An option without value and default is absent; one that was
// set to the empty text is empty.
func (t *Tools) Config(ctx context.Context) (map[string]any, error) {
	var options map[string]any
	if err := t.queryOnce(ctx, &options, "config-get", "--all"); err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	maps.DeleteFunc(options, func(_ string, value any) bool { return value == nil })
	return options, nil
}
