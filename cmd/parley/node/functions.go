package node

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"time"

	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/store/ledger"
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
			err = ledger.New(n.db).WantCRMNote(ctx, session.Account(), session.ID(), source, parent, n.db.Now())
			cancel()
		}
		if err != nil {
			n.log.Warn("a call will not be noted in the customer database", "session", session.ID(), "err", err)
		}
	}
	return set
}
