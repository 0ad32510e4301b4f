// Package document renders results for people: clusters, plans and the spread of gateways, the journal, nodes, answers
// of operations, the agent, backups, an upgrade. Programs get the same values as YAML or JSON (package render).
package document
