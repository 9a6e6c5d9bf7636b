// Package account has the pages of what an account has: balance and statements, keys and their limits, secrets, webhooks, requests, and the
// engines that it uses.
// The templates are the dashboard's, whose tests use the pages in a browser.
package account

import (
	"slices"

	"parley/api/dashboard/page"
)

// Pages are the pages of this package.
func Pages() []page.Page {
	return slices.Concat(balancePages(), keyPages(), secretPages(), soundPages(), webhookPages(), requestPages(), enginePages())
}
