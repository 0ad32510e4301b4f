// Package render writes documents for programs.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML renders v as a YAML document without a leading "---" and without a final newline.
func YAML(v any) (string, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(v); err != nil {
		return "", fmt.Errorf("cannot render YAML: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// JSON renders v as indented JSON without a final newline.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // "->" is read by people too
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return "", fmt.Errorf("cannot render JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
