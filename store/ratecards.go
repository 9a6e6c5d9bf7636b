package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// cardOrder is a version's place among the others, in SQL: its date, then its revision.
func cardOrder(version string) string {
	return "(split_part(" + version + ", '.', 1), split_part(" + version + ", '.', 2)::numeric)"
}

// newestCard reads the version in force for the whole cluster.
var newestCard = "select version from rate_cards_in_force order by " + cardOrder("version") + " desc limit 1"

// PutRateCard stores a card so that sessions can be priced by it, and puts it in force for
// the whole cluster unless a newer version is: then that is what RateCard returns. Storing
// it again changes nothing; another card under a stored version is ErrRateCardChanged.
func (db *DB) PutRateCard(ctx context.Context, c *billing.RateCard) error {
	now := db.Time(ctx)
	sum := c.SHA256()
	err := db.Do(ctx, "store the rate card", `insert into rate_cards (version, body, sha256, added_at) values ($1, $2, $3, $4)
		on conflict do nothing`, c.Version(), string(c.JSON()), sum[:], now)
	if err != nil {
		return err
	}
	stored, err := Value[[]byte](ctx, db, "store the rate card", "select sha256 from rate_cards where version = $1", c.Version())
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, sum[:]) {
		return fmt.Errorf("%w: %s", ErrRateCardChanged, c.Version())
	}
	changed, err := db.Exec(ctx, "put the rate card in force", `insert into rate_cards_in_force (version, since) select $1, $2
		where not exists (select from rate_cards_in_force where `+cardOrder("version")+" >= "+cardOrder("$1::text")+") on conflict do nothing", c.Version(), now)
	if err != nil {
		return err
	}
	if changed > 0 {
		db.hints.Give(HintRateCard)
	}
	return db.FollowRateCard(ctx)
}

// RateCard is the card in force, by which a session that starts now is charged, as far as
// this process knows: PutRateCard and FollowRateCard learn it. Nil before the first of
// them.
func (db *DB) RateCard() *billing.RateCard { return db.force.Load() }

// FollowRateCard learns which card is in force.
func (db *DB) FollowRateCard(ctx context.Context) error {
	db.livesMu.Lock()
	defer db.livesMu.Unlock() // of two that read one after the other, the first does not write last
	version, err := Value[string](ctx, db, "read the rate card in force", newestCard)
	if err != nil {
		return err
	}
	if known := db.force.Load(); known != nil && known.Version() == version {
		return nil
	}
	c, err := db.Card(ctx, db.pool, version)
	if err != nil {
		return err
	}
	if err := db.noteCard(ctx, c, db.lives); err != nil {
		return err
	}
	db.force.Store(c)
	return nil
}

// LookForRateCard has looks hint at a card in force that this process does not know.
func (db *DB) LookForRateCard() {
	db.hints.Look(Look{newestCard, func(version string) {
		if known := db.force.Load(); known == nil || known.Version() != version {
			db.hints.Hear(HintRateCard)
		}
	}})
}

// began notes that this process is node n, and the card that it has in force: sessions of n
// are charged by that one, or one that follows.
func (db *DB) began(ctx context.Context, n Node) error {
	db.livesMu.Lock()
	defer db.livesMu.Unlock()
	db.lives = append(db.lives, n.Epoch)
	return db.noteCard(ctx, db.force.Load(), []int64{n.Epoch})
}

func (db *DB) noteCard(ctx context.Context, c *billing.RateCard, lives []int64) error {
	if c == nil || len(lives) == 0 {
		return nil
	}
	return db.Do(ctx, "note the rate card",
		`insert into node_cards (node_epoch, since, price_version) select unnest($1::bigint[]), $2::timestamptz, $3::text`, lives, db.Time(ctx), c.Version())
}

// inForce is the card in force, as far as this process knows, or else as the database says.
func (db *DB) CardInForce(ctx context.Context, q Queryer) (*billing.RateCard, error) {
	if c := db.force.Load(); c != nil {
		return c, nil
	}
	version, err := Scalar[string](ctx, q, newestCard)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return billing.DefaultRateCard(), nil
	case err != nil:
		return nil, Fail("read the rate card", err)
	}
	return db.Card(ctx, q, version)
}

// Card returns the stored card of a version.
func (db *DB) Card(ctx context.Context, q Queryer, version string) (*billing.RateCard, error) {
	if c, ok := db.cards.Load(version); ok {
		return c.(*billing.RateCard), nil
	}
	body, err := Scalar[string](ctx, q, "select body::text from rate_cards where version = $1", version)
	if err != nil {
		return nil, Fail("read rate card "+version, err)
	}
	c, err := billing.ParseRateCard([]byte(body))
	if err != nil {
		return nil, fmt.Errorf("stored rate card %s: %w", version, err)
	}
	db.cards.Store(version, c)
	return c, nil
}
