package node

import (
	"errors"
	"fmt"
	"time"

	"parley/api"
	"parley/billing"
	"parley/pipeline"
	"parley/store"
)

// webTerms price a conversation over a socket.
var webTerms = billing.Terms{Kind: billing.Web}

// quietClient ends a conversation without a stored agent in which nobody has
// spoken for so long: clients reconnect with nobody listening.
const quietClient = time.Minute

// minRecogniser is the least wait for a final text before the partial is trusted.
const minRecogniser = 600 * time.Millisecond

// notFound says that an agent does not exist, whoever owns it.
func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", api.ErrNoAgent, err)
	}
	return err
}

// refusal is the manager's refusal in the words of the error table.
func refusal(err error) error {
	if errors.Is(err, pipeline.ErrDraining) || errors.Is(err, pipeline.ErrFull) {
		return fmt.Errorf("%w: %w", api.ErrDraining, err)
	}
	return notFound(err)
}
