package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"parley/inference"
	"parley/inference/remote"
)

// Bounds of a request for embeddings. OpenAI takes 2,048 texts and 300,000 tokens at once.
const (
	// MaxEmbedded is how many texts Embed takes at once.
	MaxEmbedded = 256
	// MaxDimensions bounds those of a vector.
	MaxDimensions = 4096
	// maxVectors bounds an answer in bytes; a number has 24 at most.
	maxVectors = 32 << 20
)

// Embeddings makes vectors of texts, of which those that mean the same are near to each other, over /embeddings. Safe for
// use from several goroutines.
type Embeddings struct{ *client }

// NewEmbeddings checks c and contacts nobody. The default model is text-embedding-3-small.
func NewEmbeddings(c remote.Engine) (*Embeddings, error) {
	cl, err := newClient("text-embedding-3-small", c)
	if err != nil {
		return nil, err
	}
	return &Embeddings{cl}, nil
}

// Model is the name of the model: vectors of different ones have nothing in common.
func (e *Embeddings) Model() string { return e.model }

// embeddingsRequest is the body of POST /embeddings.
type embeddingsRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

// embeddingsAnswer is what it answers.
type embeddingsAnswer struct {
	Data []struct {
		Index     *int      `json:"index"` // some servers have none
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed makes a vector of each text, at most MaxEmbedded of them and none empty, in their order. The vectors have the
// same length, from 1 to MaxDimensions numbers, and are the caller's. Errors are those of package inference.
func (e *Embeddings) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > MaxEmbedded {
		return nil, e.Fault(inference.ErrRefused, fmt.Errorf("%d texts at once", len(texts)))
	}
	body, err := json.Marshal(embeddingsRequest{e.model, texts})
	if err != nil {
		return nil, e.Fault(inference.ErrRefused, errors.New("the request cannot be made"))
	}
	a, err := e.Post(ctx, "/embeddings", "application/json", body)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	answer, err := io.ReadAll(io.LimitReader(a, maxVectors+1))
	if err != nil {
		return nil, err
	}
	var got embeddingsAnswer
	if len(answer) > maxVectors || json.Unmarshal(answer, &got) != nil {
		return nil, e.Fault(inference.ErrFailed, errors.New("an answer that is not embeddings"))
	}
	vectors, err := got.vectors(len(texts))
	if err != nil {
		return nil, e.Fault(inference.ErrFailed, err)
	}
	return vectors, nil
}

// vectors are the n of an answer, in the order of the texts.
func (a *embeddingsAnswer) vectors(n int) ([][]float32, error) {
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d embeddings of %d texts", len(a.Data), n)
	}
	out := make([][]float32, n)
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, errors.New("embeddings with wrong numbers")
		}
		if size := len(d.Embedding); size == 0 || size > MaxDimensions || size != len(a.Data[0].Embedding) {
			return nil, fmt.Errorf("an embedding of %d numbers", size)
		}
		square := 0.0
		for _, v := range d.Embedding {
			square += float64(v) * float64(v)
		}
		if square == 0 || math.IsInf(square, 0) {
			return nil, errors.New("an embedding without a direction")
		}
		out[at] = d.Embedding
	}
	return out, nil
}
