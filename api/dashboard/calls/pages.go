// Package calls shows calls: those that last, the history and its saved views, each of them with its recording and times, what the
// model was asked, and what all of them come to.
// The templates are the dashboard's, whose tests use the pages in a browser.
package calls

import (
	"slices"

	"parley/api/dashboard/page"
)

// Pages are the pages of this package.
func Pages() []page.Page {
	return slices.Concat(callPages(), completionPages(), insightPages())
}
