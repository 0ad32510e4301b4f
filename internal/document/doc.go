// Package document is what people are shown of what was decided and found out: clusters, plans
// and the spread of gateways, the journal, nodes, operations' answers, the agent, an upgrade. Programs get the same
// values as YAML or JSON (package render). It decides nothing, and what decides prints nothing.
package document
