package trunks

import (
	"context"
	"slices"
	"time"

	"parley/store"
)

// Registrar is which node registers a trunk, and how the registration stands.
type Registrar struct {
	Trunk string // its name, or its identifier where it is an account's
	store.Node
	Standing
	// Free says that the node drains or that its lease is over: another may take the trunk.
	Free bool
}

// Standing is how a registration stands, as its node has reported.
type Standing struct {
	Until   *time.Time // by the database's clock; nil: it is not registered
	Error   string     // of the last attempt; empty: it succeeded
	Contact string     // the URI that is registered
	Former  string     // that of an earlier node, which is to be taken back
}

// living is a life of a node whose lease goes on, of the columns of r.
const living = "from nodes n where n.node_id = r.node_id and n.epoch = r.node_epoch and n.heartbeat_at >= now() - $4::interval"

// Registrars takes for a node those of some trunks that no living node registers, and returns who registers each, and for how long
// from the question the node may take for its own what it has: its lease, counted from its last heartbeat. A node that drains
// takes none, and keeps what nobody else takes. Trunks of the node that are not among them are nobody's afterwards. After the
// database was away, when all nodes look alike, none is taken for dead. ErrFenced: a younger process has the node's name.
func (s *Store) Registrars(ctx context.Context, me store.Node, trunks []string) (all []Registrar, lease time.Duration, err error) {
	trunks = append([]string{}, trunks...) // none at all would be null, which is like nothing
	lease, err = s.db.Lease(ctx, me)
	if err == nil {
		all, err = s.registrars(ctx, me, trunks)
	}
	if err != nil {
		return nil, 0, err
	}
	had := len(all)
	if all = slices.DeleteFunc(all, func(r Registrar) bool { return !slices.Contains(trunks, r.Trunk) }); len(all) < had {
		if err := s.db.Do(ctx, "forget registrars", "delete from trunk_registrars where node_id = $1 and node_epoch = $2 and trunk <> all($3)", me.ID, me.Epoch, trunks); err != nil {
			return nil, 0, err
		}
	}
	settled := map[string]bool{}
	for i := range all {
		settled[all[i].Trunk] = !all[i].Free
	}
	free := slices.DeleteFunc(slices.Clone(trunks), func(t string) bool { return settled[t] })
	if len(free) == 0 {
		return all, lease, nil
	}
	taken, err := s.db.Exec(ctx, "take trunks", `insert into trunk_registrars as r (trunk, node_id, node_epoch)
		select t, n.node_id, n.epoch from unnest($3::text[]) t, nodes n
		where n.node_id = $1 and n.epoch = $2 and not n.draining and n.heartbeat_at >= now() - $4::interval order by t
		on conflict (trunk) do update set node_id = $1, node_epoch = $2, until = null, error = '', contact = '',
			former = case when r.contact = '' then r.former else r.contact end
		where r.node_id = $1 and r.node_epoch < $2
			or exists (select `+living+` and n.draining)
			or not exists (select `+living+`) and exists (select from nodes me where me.node_id = $1 and me.steady_since <= now() - $5::interval)`,
		me.ID, me.Epoch, free, store.NodeLease, store.BeatGap)
	if err == nil && taken > 0 {
		all, err = s.registrars(ctx, me, trunks)
	}
	return all, lease, err
}

func (s *Store) registrars(ctx context.Context, me store.Node, trunks []string) ([]Registrar, error) {
	return store.List[Registrar](ctx, s.db, "look for registrars", `select trunk, node_id, node_epoch, until, error, contact, former, not exists (select `+living+` and not n.draining)
		from trunk_registrars r where trunk = any($3) or node_id = $1 and node_epoch = $2 order by trunk`, me.ID, me.Epoch, trunks, store.NodeLease)
}

// Others tells which other nodes may register trunks: see store.DB.OtherNodes.
func (s *Store) Others() (mark string, known bool) { return s.db.OtherNodes() }

// EveryOr calls f once in each period, and when heartbeats see other nodes than before, until ctx ends. It returns nil.
func (s *Store) EveryOr(ctx context.Context, period time.Duration, f func()) error {
	return s.db.Hints().Every(ctx, store.HintNodes, period, f)
}

// Report stores how the registrations of a node stand, by the names of the trunks. What another node has taken stays as it is.
func (s *Store) Report(ctx context.Context, me store.Node, standing map[string]Standing) error {
	var trunks, errs, contacts, former []string
	var until []*time.Time
	for t, x := range standing {
		trunks, errs, contacts, former, until = append(trunks, t), append(errs, x.Error), append(contacts, x.Contact), append(former, x.Former), append(until, x.Until)
	}
	if len(trunks) == 0 {
		return nil
	}
	return s.db.Do(ctx, "report registrations", `update trunk_registrars r set until = x.until, error = x.error, contact = x.contact, former = x.former
		from unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[]) x(trunk, until, error, contact, former)
		where r.trunk = x.trunk and r.node_id = $1 and r.node_epoch = $2`, me.ID, me.Epoch, trunks, until, errs, contacts, former)
}
