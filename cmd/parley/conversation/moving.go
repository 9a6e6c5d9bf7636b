package conversation

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/trunk"
)

// Began is how a telephone call began, which another node needs to go on with it. It stays a value as JSON.
type Began struct {
	Leg      string // telephone or outbound, as calls are counted
	Agent    string
	Version  int64
	Language string // that the agent spoke at first
	Call     agent.Call
	From     trunk.Caller // the account's line, on which calls of the conversation go out
	Own      bool         // its trunk is the account's
	Other    string       // the number at the far end, as in Options
	Shown    string       // the same for those whom the call is passed on to; empty: it is withheld
	Longest  time.Duration
}

// Movable is a telephone call in progress that can go on at another node.
type Movable struct {
	Began
	Session  *session.Session
	Call     *pipeline.Call
	Leg      *sip.Leg
	Recorded bool // Conduct finds out
}

// movables are the calls of a node that can move.
type movables struct {
	mu   sync.Mutex
	live map[*Movable]struct{}
}

// Conduct conducts a call of the plan on a leg that has c.Leg at its other end, and ends its session with it. Meanwhile it is among
// Movable, where everything of it can go on elsewhere.
func (m *Maker) Conduct(c *Movable, p *Plan, leg media.Leg) media.Ended {
	if c.Leg != nil && m.moves(p) {
		c.Agent, c.Version, c.Language, c.Began.Call, c.Recorded = p.ID, p.Version, p.Agent.Language, p.call, p.records()
		m.movables.mu.Lock()
		if m.movables.live == nil {
			m.movables.live = map[*Movable]struct{}{}
		}
		m.movables.live[c] = struct{}{}
		m.movables.mu.Unlock()
		defer func() {
			m.movables.mu.Lock()
			defer m.movables.mu.Unlock()
			delete(m.movables.live, c)
		}()
	}
	return c.Session.Conduct(c.Call, leg)
}

// moves says whether a conversation of the plan can go on elsewhere. A recording needs files that all nodes have; an engine that hears
// and speaks by itself remembers the conversation; and where the agent is in its steps, and which agent of several speaks, is not in
// what a call says of how far it is.
func (m *Maker) moves(p *Plan) bool {
	return p.ID != "" && (!p.records() || m.Records.Shared) && p.chosen.Realtime == nil && len(p.steps) == 0 && len(p.Settings.HandOverTo) == 0
}

// Release leaves a call to the node that has adopted it.
func (m *Maker) Release(c *Movable) {
	if c.Recorded {
		m.Records.Leave(c.Session.ID())
	}
	c.Session.Release()
	c.Leg.Release()
}

// Rescuable says that other nodes can take a call over when this one is taken for dead: then nothing is heard of the agent here, and the
// call ends without a word to the far end when another node has it.
func (m *Maker) Rescuable(c *Movable) {
	c.Leg.MuteWhile(c.Session.Muted)
	c.Session.Rescuable(func() {
		if c.Recorded {
			m.Records.Leave(c.Session.ID())
		}
		c.Leg.Abandon()
	})
}

// Ended counts and logs the end of a call. One that goes on at another node has its end there.
func (m *Maker) Ended(leg string, s *session.Session, e media.Ended) {
	if !s.Released() {
		m.Metrics.Ended(leg, s.ID(), e)
	}
}

// Movable lists the calls that can move.
func (m *Maker) Movable() []*Movable {
	m.movables.mu.Lock()
	defer m.movables.mu.Unlock()
	return slices.Collect(maps.Keys(m.movables.live))
}

// Resumed is the plan of a call of the account that began elsewhere. store.ErrNotFound: its agent is gone.
func (m *Maker) Resumed(ctx context.Context, account string, b *Began) (Plan, error) {
	stored, err := m.Store.AgentVersion(ctx, account, b.Agent, b.Version)
	if err != nil {
		return Plan{}, err
	}
	p := PlanOf(stored, m.Log)
	if b.Language != p.Agent.Language {
		own := p.Agent
		p.Agent.Speak(b.Language, &own)
	}
	p.Begin(b.Call)
	p.Agent.FirstMessage = "" // it was said
	return p, nil
}
