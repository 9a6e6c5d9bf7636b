package node

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"parley/billing"
	"parley/media"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/pipeline/tool/crm"
	"parley/store"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/people"
	"parley/store/webhook"
)

// openFunctions prepares what agents' functions need: the accounts' secrets, where
// requests may go, the operator's search service and customer database.
func (n *Node) openFunctions(master string) (err error) {
	if n.secrets, err = people.NewVault(n.db, master); err != nil {
		return err
	}
	c := tool.Config{Secrets: n.opened, Log: n.log}
	if c.Guard, err = tool.NewGuard(n.cfg.ToolAllow, nil); err != nil {
		return err
	}
	c.Guard.Refuse(n.ownAddresses()...)
	n.guard = c.Guard
	n.hooks, n.poster = webhook.New(n.db, n.secrets), c.Guard.Poster()
	if n.cfg.SearchURL != "" {
		if c.WebSearch, err = tool.NewWebSearch(n.cfg.SearchURL, n.cfg.SearchAPIKey); err != nil {
			return err
		}
	}
	if n.cfg.CRM != "" {
		if c.CRM, err = tool.NewCRM(n.cfg.CRM, n.cfg.CRMURL, n.cfg.CRMAPIKey); err != nil {
			return err
		}
	}
	n.tools = tool.New(c)
	return nil
}

// ownAddresses are those of this machine, and the one that others are told.
func (n *Node) ownAddresses() []netip.Addr {
	own := []netip.Addr{n.cfg.PublicIP}
	found, err := net.InterfaceAddrs()
	if err != nil {
		n.log.Warn("the addresses of this machine are not known", "err", err)
	}
	for _, a := range found {
		if network, ok := a.(*net.IPNet); ok {
			ip, _ := netip.AddrFromSlice(network.IP)
			own = append(own, ip)
		}
	}
	return own
}

// opened are secrets of an account, as functions take them.
func (n *Node) opened(ctx context.Context, account string, names []string) (map[string]tool.Secret, error) {
	values, err := n.secrets.Values(ctx, account, names)
	out := make(map[string]tool.Secret, len(values))
	for name, v := range values {
		out[name] = tool.Secret(v)
	}
	return out, err
}

// noteTime bounds remembering that a call is to be noted.
const noteTime = 3 * time.Second

// functionsOf makes the functions of a conversation and says to its session what they
// cost. other is the number of the far end, "+" when it is withheld; empty: it is no
// telephone call. parent is the traceparent header of their requests, and of the call's
// note in a customer database. The set must be closed after the conversation.
func (n *Node) functionsOf(ctx context.Context, session *session.Session, p plan, other, parent string) *tool.Set {
	set := n.tools.Open(ctx, tool.Who{Account: session.Account(), Other: strings.TrimSuffix(other, "+"), Trace: parent}, p.functions)
	session.Offers(set.Functions)
	for _, d := range p.functions {
		if d.Kind != tool.CRMKind || !d.CRM.Logs() || other == "" || d.CRM.Provider == "" && n.cfg.CRM == "" {
			continue
		}
		source, err := json.Marshal(d.CRM)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, noteTime)
			err = n.db.WantCRMNote(ctx, session.Account(), session.ID(), source, parent, n.db.Now())
			cancel()
		}
		if err != nil {
			n.log.Warn("a call will not be noted in the customer database", "session", session.ID(), "err", err)
		}
	}
	return set
}

// Calls that are over are noted in customer databases by jobs; the database says
// which are due, so a note outlives whoever was about to make it.
const (
	crmNotesEvery = 10 * time.Second
	crmNoteMakers = 8 // jobs at once on a node: a database that is slow holds up one, for 20 seconds
	crmNotesTime  = 2 * time.Minute
	crmNotesRound = time.Minute // then a job takes no further call
)

type crmNotes struct{}

// Kind implements jobs.Args.
func (crmNotes) Kind() string { return "crm_notes" }

// handleCRMNotes has calls noted. The queue is not open yet.
func (n *Node) handleCRMNotes() {
	jobs.Handle(n.jobs, jobs.Limits{Workers: crmNoteMakers, Timeout: crmNotesTime}, n.noteCalls)
	jobs.Every(n.jobs, crmNotesEvery, crmNotes{})
}

// noteCalls notes the calls that are due.
func (n *Node) noteCalls(ctx context.Context, _ crmNotes) error {
	for begun := time.Now(); time.Since(begun) < crmNotesRound; {
		note, err := n.db.ClaimCRMNote(ctx, n.db.Now())
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = n.noteCall(ctx, note)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteCall notes one call. Between the database's answer and ours this process may
// die: then the next try finds the call there.
func (n *Node) noteCall(ctx context.Context, note *store.CRMNote) error {
	call, err := history.New(n.db).Call(ctx, note.Account, note.Session)
	if err != nil {
		return err
	}
	var source tool.CRMSource
	err = json.Unmarshal(note.Source, &source)
	if err == nil {
		err = n.tools.Note(tool.InTrace(ctx, note.Trace), note.Account, &source, overCall(call), note.Try > 1)
	}
	log := n.log.With("session", note.Session, "account", note.Account)
	status, refused := errors.AsType[*crm.StatusError](err)
	switch {
	case err == nil:
		return n.db.CRMNoted(ctx, note, n.db.Now())
	case ctx.Err() != nil: // the node stops
		return ctx.Err()
	case refused && (status.Status == http.StatusBadRequest || status.Status == http.StatusUnprocessableEntity):
		log.Warn("a call cannot be noted in the customer database and is given up", "err", err)
		return n.db.CRMNoteFailed(ctx, note, n.db.Now())
	}
	log.Warn("a call could not be noted in the customer database and is tried again", "try", note.Try, "err", err)
	return n.db.CRMNoteDelayed(ctx, note, n.db.Now())
}

// overCall is a call of history as customer databases know calls.
func overCall(c *history.Call) crm.Call {
	out := crm.Call{ID: c.ID, Inbound: c.Direction == billing.Inbound, From: c.From, To: c.To, Reason: string(media.Failed)}
	if c.EndReason != nil {
		out.Reason = *c.EndReason
	}
	if c.StartedAt != nil {
		out.StartedAt = *c.StartedAt
		if c.EndedAt != nil {
			out.Duration = c.EndedAt.Sub(*c.StartedAt)
		}
	}
	var text strings.Builder
	for _, line := range c.Transcript {
		text.WriteString(line.Role + ": " + line.Text + "\n")
	}
	out.Text = strings.TrimSpace(text.String())
	return out
}
