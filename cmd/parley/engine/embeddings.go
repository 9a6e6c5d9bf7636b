package engine

import (
	"fmt"
	"time"

	"parley/cmd/parley/config"
	"parley/inference/openai"
	"parley/inference/remote"
	"parley/store/knowledge"
)

// embeddingsPatience is how long an embeddings engine may be silent: it answers 64 passages at once, perhaps without a
// graphics card. Searches wait much less.
const embeddingsPatience = time.Minute

// Embeddings makes the engine by which documents are found by what they mean; nil: none is configured.
func Embeddings(cfg *config.Config) (knowledge.Embedder, error) {
	if cfg.EmbeddingsURL == "" {
		return nil, nil
	}
	e, err := openai.NewEmbeddings(remote.Engine{Name: "embeddings", BaseURL: cfg.EmbeddingsURL, APIKey: cfg.EmbeddingsAPIKey, Model: cfg.EmbeddingsModel,
		Timeout: embeddingsPatience})
	if err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	return e, nil
}
