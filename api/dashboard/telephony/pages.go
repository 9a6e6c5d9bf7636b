// Package telephony has the pages of the telephone: phone numbers, calls that are placed, alone and in batches, text messages, who is not called, and the
// evidence that callees had agreed.
// The templates are the dashboard's, whose tests use the pages in a browser.
package telephony

import (
	"slices"

	"parley/api/dashboard/page"
)

// Pages are the pages of this package.
func Pages() []page.Page {
	return slices.Concat(numberPages(), bulkPages(), messagePages(), doNotCallPages(), consentPages())
}
