package bus

import (
	"fmt"
	"strconv"
	"strings"

	"parley/store"
)

// Subject names what messages are about. The functions below make all there are;
// they refuse with ErrSubject what would change a subject's meaning.
type Subject struct{ name string }

// maxToken bounds one part of a subject, in bytes: identifiers and names of nodes
// are far shorter.
const maxToken = 256

// Call is where the owner of a call says what happens in it.
func Call(id string) (Subject, error) { return build("call", id, "ev") }

// Commands is where one life of a node takes commands. Another life of the same
// node does not hear them.
func Commands(n store.Node) (Subject, error) {
	// Names of nodes may be those of hosts, with dots; "%" is in none.
	return build("node", strings.ReplaceAll(n.ID, ".", "%2E"), strconv.FormatInt(n.Epoch, 10), "cmd")
}

// Goodbye is where a node says that an account has reached its floor.
func Goodbye(account string) (Subject, error) { return build("acct", account, "goodbye") }

// Goodbyes are those of all accounts, to subscribe to.
func Goodbyes() Subject { return Subject{"acct.*.goodbye"} }

// Events is where an account's events are published, as JSON.
func Events(account string) (Subject, error) { return build("acct", account, "ev") }

// Heartbeats is where nodes say that they live.
func Heartbeats() Subject { return Subject{"node.hb"} }

// Limits is where nodes report what they have let through.
func Limits() Subject { return Subject{"node.limits"} }

// Hints is where nodes say what may be there to do.
func Hints() Subject { return Subject{"node.hints"} }

func build(tokens ...string) (Subject, error) {
	for _, t := range tokens {
		if !plain(t) {
			return Subject{}, fmt.Errorf("%w: %.40q", ErrSubject, t)
		}
	}
	return Subject{strings.Join(tokens, ".")}, nil
}

// plain says whether s may be a part of a subject: printable ASCII without what
// separates parts or stands for several.
func plain(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '.' || c == '*' || c == '>' {
			return false
		}
	}
	return true
}

// about is the second part of a subject's name: the call, node or account.
func about(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	id, _, _ := strings.Cut(rest, ".")
	return id
}
