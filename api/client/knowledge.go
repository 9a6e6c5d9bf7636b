package client

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"

	"parley/api/wire"
)

// MaxDocument is the largest document that a server takes, in bytes.
const MaxDocument = 20 << 20

// everything reads a list to its end, page after page.
func everything[T any](ctx context.Context, c *Client, path ...string) (all []T, err error) {
	type page struct {
		Data []T    `json:"data"`
		Next string `json:"next_cursor"`
	}
	for v := (url.Values{"limit": {"100"}}); ; {
		p, err := ask[page](ctx, c, http.MethodGet, c.query(v, path...), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Data...)
		if p.Next == "" {
			return all, nil
		}
		v.Set("cursor", p.Next)
	}
}

// KnowledgeBases lists the account's collections of documents, the newest first.
func (c *Client) KnowledgeBases(ctx context.Context) ([]wire.KnowledgeBase, error) {
	return everything[wire.KnowledgeBase](ctx, c, "v1", "knowledge")
}

// CreateKnowledgeBase makes a collection.
func (c *Client) CreateKnowledgeBase(ctx context.Context, b wire.NewKnowledgeBase) (*wire.KnowledgeBase, error) {
	return ask[wire.KnowledgeBase](ctx, c, http.MethodPost, c.address("v1", "knowledge"), b)
}

// KnowledgeDocuments lists the documents of a collection, the newest first.
func (c *Client) KnowledgeDocuments(ctx context.Context, base string) ([]wire.KnowledgeDocument, error) {
	return everything[wire.KnowledgeDocument](ctx, c, "v1", "knowledge", base, "documents")
}

// KnowledgeDocument reads what is known of a document.
func (c *Client) KnowledgeDocument(ctx context.Context, base, id string) (*wire.KnowledgeDocument, error) {
	return ask[wire.KnowledgeDocument](ctx, c, http.MethodGet, c.address("v1", "knowledge", base, "documents", id), nil)
}

// AddFile adds a file to a collection, of MaxDocument bytes at most. An empty title is the file's name.
func (c *Client) AddFile(ctx context.Context, base, name, title string, body []byte) (*wire.KnowledgeDocument, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if title != "" {
		if err := w.WriteField("title", title); err != nil {
			return nil, err
		}
	}
	part, err := w.CreateFormFile("file", filepath.Base(name))
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address("v1", "knowledge", base, "documents").String(), &form)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	return decode[wire.KnowledgeDocument](ctx, c)(c.request(req))
}

// AddAddress adds an address to a collection, which the server fetches.
func (c *Client) AddAddress(ctx context.Context, base string, a wire.NewKnowledgeAddress) (*wire.KnowledgeDocument, error) {
	return ask[wire.KnowledgeDocument](ctx, c, http.MethodPost, c.address("v1", "knowledge", base, "documents"), a)
}

// RefreshDocument has an address fetched again.
func (c *Client) RefreshDocument(ctx context.Context, base, id string) (*wire.KnowledgeDocument, error) {
	return ask[wire.KnowledgeDocument](ctx, c, http.MethodPost, c.address("v1", "knowledge", base, "documents", id, "refresh"), nil)
}

// SearchKnowledge searches a collection.
func (c *Client) SearchKnowledge(ctx context.Context, base string, q wire.KnowledgeQuestion) (*wire.KnowledgeAnswer, error) {
	return ask[wire.KnowledgeAnswer](ctx, c, http.MethodPost, c.address("v1", "knowledge", base, "search"), q)
}

// DeleteKnowledge deletes a document of a collection, or without one the collection.
func (c *Client) DeleteKnowledge(ctx context.Context, base, document string) error {
	path := []string{"v1", "knowledge", base}
	if document != "" {
		path = append(path, "documents", document)
	}
	resp, err := c.send(ctx, http.MethodDelete, c.address(path...), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
