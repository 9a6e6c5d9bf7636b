package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/billing"
	"parley/store"
)

// cardEvery is how often a node asks which rate card is in force: for so long it may go on
// selling by the one before.
const cardEvery = 2 * time.Second

// LoadRateCard reads the rate card's file and puts it in force in the whole cluster, for
// new sessions. A file that is older than what is in force changes nothing, for another
// node was given a newer one. The server keeps its card when the file cannot be used.
func (n *Node) LoadRateCard(ctx context.Context) error {
	card, err := billing.ReadRateCard(n.cfg.RateCard)
	if err != nil {
		return err
	}
	if err := n.db.PutRateCard(ctx, card, n.db.Now()); err != nil {
		if errors.Is(err, store.ErrRateCardChanged) {
			return fmt.Errorf("rate card %s: %w", card.Version(), err)
		}
		return err
	}
	if is := n.RateCard().Version(); is != card.Version() {
		n.log.Warn("a newer rate card than the configured one is in force, and stays so", "configured", card.Version(), "version", is)
	}
	return nil
}

// followRateCard learns until ctx ends what other nodes put in force.
func (n *Node) followRateCard(ctx context.Context) error {
	tick := time.NewTicker(cardEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		before := n.RateCard()
		err := n.db.FollowRateCard(ctx, n.db.Now())
		switch is := n.RateCard(); {
		case err != nil && ctx.Err() == nil:
			n.log.Warn("the rate card in force is not known; the one before goes on", "version", before.Version(), "err", err)
		case is != before:
			n.log.Info("another rate card is in force", "version", is.Version())
		}
	}
}

// RateCard is the card in force.
func (n *Node) RateCard() *billing.RateCard { return n.db.RateCard() }
