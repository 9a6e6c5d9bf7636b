package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/billing"
)

// MountPricing adds the rate card in force: public, cacheable.
func MountPricing(a *API, card func() *billing.RateCard) {
	a.Handle(Route{Access: Public, Operation: huma.Operation{
		Method: http.MethodGet, Path: "/v1/pricing", OperationID: "get-pricing", Tags: []string{"Account"},
		Summary:     "The rate card in force",
		Description: "Every price, in US dollars before tax, and the rules of the balance. A session is charged by the version in force when it started.",
		Responses: map[string]*huma.Response{"200": {Description: "The rate card",
			Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: "object", AdditionalProperties: true,
				Required: []string{"version", "currency"}, Properties: map[string]*huma.Schema{
					"version":  {Type: "string", Description: "Date and revision."},
					"currency": {Type: "string", Enum: []any{"USD"}, Description: "The currency of every price."},
				}}}}}},
	}}, pricing(card))
}

func pricing(card func() *billing.RateCard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(card().JSON()) // the client has gone
	})
}

// Fallback answers what no route takes, in the form of every other error.
func Fallback() http.Handler {
	return HandlerFunc(func(http.ResponseWriter, *http.Request) error { return ErrNotFound })
}
