// Package session keeps the books of a node's calls. The conductor, package pipeline, knows
// nothing of accounts and money; here they meet.
//
// A Manager admits a call as a Session, meters it with all the others of the node, and drains
// them. A Session is bound to the Config of its call, conducts it, and closes its books when
// it is over. Work is a session without a conversation: metered work of the API.
//
// To read: manager.go admits, session.go is one call, meter.go its clock and checkpoints,
// ending.go how its books are closed, lease.go how a node learns that others take it for dead,
// move.go and takeover.go how a session goes on at another node.
package session
