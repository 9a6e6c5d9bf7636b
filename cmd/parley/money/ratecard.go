package money

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"parley/billing"
	"parley/store"
)

// Cards keeps the rate card of the cluster.
type Cards struct {
	Store *store.DB
	File  string // empty: the built-in card
	Log   *slog.Logger
	// Realtime says that the server has realtime engines: the card must sell them.
	Realtime bool
	// Messages says that a carrier charges the server for text messages: the card must have their prices.
	Messages bool
}

// ErrNoRealtime refuses a rate card.
var ErrNoRealtime = errors.New("it has no prices of realtime engines (realtime.audio_input_per_million_tokens and the two others), and the list of engines has one")

// ErrNoMessages refuses a rate card.
var ErrNoMessages = errors.New("it has no prices of text messages (phone.message_inbound and phone.message_outbound), and PARLEY_TELNYX_MESSAGING_PROFILE is set")

// Load reads the rate card's file and puts it in force in the whole cluster, for
// new sessions. A file that is older than what is in force changes nothing, for another
// node was given a newer one. The server keeps its card when the file cannot be used.
func (c *Cards) Load(ctx context.Context) error {
	card, err := billing.ReadRateCard(c.File)
	if err == nil && c.Realtime && !card.SellsRealtime() {
		err = fmt.Errorf("rate card %s: %w", card.Version(), ErrNoRealtime)
	}
	if err == nil && c.Messages && !card.PricesMessages() {
		err = fmt.Errorf("rate card %s: %w", card.Version(), ErrNoMessages)
	}
	if err != nil {
		return err
	}
	if err := c.Store.PutRateCard(ctx, card); err != nil {
		if errors.Is(err, store.ErrRateCardChanged) {
			return fmt.Errorf("rate card %s: %w", card.Version(), err)
		}
		return err
	}
	if is := c.Store.RateCard().Version(); is != card.Version() {
		c.Log.Warn("a newer rate card than the configured one is in force, and stays so", "configured", card.Version(), "version", is)
	}
	return nil
}

// Follow learns until ctx ends what other nodes put in force: where the bus is away, by a look.
func (c *Cards) Follow(ctx context.Context) error {
	c.Store.LookForRateCard()
	return c.Store.Hints().Every(ctx, store.HintRateCard, 0, func() {
		before := c.Store.RateCard()
		err := c.Store.FollowRateCard(ctx)
		switch is := c.Store.RateCard(); {
		case err != nil && ctx.Err() == nil:
			c.Log.Warn("the rate card in force is not known; the one before goes on", "version", before.Version(), "err", err)
		case is != before:
			c.Log.Info("another rate card is in force", "version", is.Version())
		}
	})
}
