package api

// Scope is a set of groups of routes: what a ticket opens of that which tickets open.
type Scope uint8

// The groups of routes. Tickets keep their bits for ten minutes: a bit keeps its meaning.
const (
	Conversations Scope = 1 << iota // /ws/agent, /webrtc/agent
	Synthesis                       // /ws/tts, /ws, /tts, /api/tts, /mcp
	Recognition                     // /ws/stt, /stt
	Denoising                       // /denoise
	Calls                           // /callcenter: dialling, bulk dialling, following, hanging up
	Numbers                         // /callcenter: numbers and the agents that answer them

	AnyScope = Conversations | Synthesis | Recognition | Denoising | Calls | Numbers
)

// ScopeNames are the names of the groups, in the order of their bits.
var ScopeNames = []string{"conversations", "synthesis", "recognition", "denoising", "calls", "numbers"}

// ScopeOf is the set of groups with these names; what has no such name is left out.
func ScopeOf(names []string) (s Scope) {
	for _, name := range names {
		for i, known := range ScopeNames {
			if name == known {
				s |= 1 << i
			}
		}
	}
	return s
}

// Names are the names of the groups in s.
func (s Scope) Names() (names []string) {
	for i, name := range ScopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// opens says whether the scope of p's ticket, if it has one, includes the route. Tickets
// are made from all tickets, with what they open.
func (r Route) opens(p Principal) error {
	if t := p.Ticket; t != nil && t.Scope != 0 && t.Scope&r.Scope == 0 && r.Access != Minting && r.Access != Public {
		return ErrTicketScope
	}
	return nil
}
