// Package wire is what requests and answers of the HTTP API are made of: types with JSON
// names and, in their tags, the documentation that the OpenAPI document shows. The server's
// routes, the dashboard, the client and the commands share them. It imports neither the
// store nor server code.
package wire

import (
	"github.com/danielgtaylor/huma/v2"

	"parley/billing"
)

// USD is an amount in answers: a JSON number of US dollars, exact.
type USD billing.Money

// String writes the amount as billing.Money does.
func (u USD) String() string { return billing.Money(u).String() }

// MarshalJSON implements json.Marshaler.
func (u USD) MarshalJSON() ([]byte, error) { return billing.Money(u).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (u *USD) UnmarshalJSON(b []byte) error { return (*billing.Money)(u).UnmarshalJSON(b) }

// Schema implements huma.SchemaProvider.
func (USD) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: "US dollars, exact.", Examples: []any{17.342685}}
}
