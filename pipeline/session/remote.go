package session

import (
	"parley/media"
	"parley/media/monitor"
	"parley/pipeline"
)

// Announcer notifies the other nodes.
type Announcer interface {
	// Goodbye says that a session of the account was found at the floor of its
	// balance, or that a payment of it is disputed. It must not block: what it cannot say, the others find out by
	// themselves within a checkpoint.
	Goodbye(account string)
	// Alive says that a heartbeat of this node has reached the database. It must not
	// block; the next follows soon.
	Alive()
}

// Announce sets how the other nodes are notified. Call it before Run and Admit.
func (m *Manager) Announce(a Announcer) { m.others = a }

// hungUpByAPI is the end of a call that somebody asked for.
var hungUpByAPI = &media.Ended{Reason: media.APIHangup}

// Goodbye announces that an account may be at the floor of its balance, or disputed. It
// believes nobody: it asks for a checkpoint of the account's sessions here, at once, as
// nothing pays for them any more, and what that says decides. So a message that comes twice, late, after a
// top-up, or for a session that may use other pots, costs one checkpoint and ends
// nothing. Sessions that say goodbye already are left alone: each has the others
// told once, so nodes that tell each other come to rest.
func (m *Manager) Goodbye(account string) {
	asked := false
	for _, s := range m.sessions() {
		if s.stored.Account == account && !s.exhausted.Load() {
			s.due.Store(true)
			asked = true
		}
	}
	if asked {
		wake(m.atOnce)
	}
}

// spread notifies the account's other sessions here, and the other nodes.
func (m *Manager) spread(account string) {
	m.Goodbye(account)
	if m.others != nil {
		m.others.Goodbye(account)
	}
}

// Hangup ends a call of the account at once and says whether it is here.
func (m *Manager) Hangup(account, id string) bool {
	s := m.find(account, id)
	if s != nil {
		s.cutOff(hungUpByAPI)
	}
	return s != nil
}

// Listen listens in on a call of the account. here says whether the call is; monitor.ErrNotBegun where nothing is to be heard of it yet.
func (m *Manager) Listen(account, id string) (l *monitor.Listener, here bool, err error) {
	s := m.find(account, id)
	if s == nil {
		return nil, false, nil
	}
	s.mu.Lock()
	by := s.monitor
	s.mu.Unlock()
	if by == nil {
		return nil, true, monitor.ErrNotBegun
	}
	l, err = by.Join()
	return l, true, err
}

// Conversation is what is talked in a call of the account that is here; nil: it is not, or nothing is talked in it yet.
func (m *Manager) Conversation(account, id string) *pipeline.Call {
	s := m.find(account, id)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.call
}

// find is a session of the account that is here; nil: it is not.
func (m *Manager) find(account, id string) *Session {
	for _, s := range m.sessions() {
		if s.stored.ID == id && s.stored.Account == account {
			return s
		}
	}
	return nil
}
