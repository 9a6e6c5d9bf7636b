package node

import (
	"context"

	"parley/cmd/parley/engine"
	"parley/pipeline/tool"
	"parley/store/knowledge"
	"parley/store/people"
	"parley/store/webhook"
)

// openFunctions prepares what agents' functions need: the accounts' secrets, where
// requests may go, the operator's search service, customer database and embeddings engine.
func (n *Node) openFunctions(master string) (err error) {
	if n.secrets, err = people.NewVault(n.db, master); err != nil {
		return err
	}
	c := tool.Config{Secrets: n.opened, Log: n.log}
	if c.Guard, err = tool.NewGuard(n.cfg.ToolAllow, nil); err != nil {
		return err
	}
	c.Guard.Refuse(n.cfg.Addresses()...)
	n.guard, n.poster = c.Guard, c.Guard.Poster()
	n.keys, n.hooks, n.library = people.NewEngineKeys(n.secrets), webhook.New(n.db, n.secrets), knowledge.New(n.db)
	if n.vectors, err = engine.Embeddings(n.cfg); err != nil {
		return err
	}
	if n.vectors != nil {
		n.library.UseEmbeddings(n.vectors, n.log)
	}
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

// opened are secrets of an account, as functions take them.
func (n *Node) opened(ctx context.Context, account string, names []string) (map[string]tool.Secret, error) {
	values, err := n.secrets.Values(ctx, account, names)
	out := make(map[string]tool.Secret, len(values))
	for name, v := range values {
		out[name] = tool.Secret(v)
	}
	return out, err
}
