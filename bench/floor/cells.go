package floor

import (
	"sync/atomic"
	"time"
)

// cell is as large as the counts of a usual window.
type cell struct {
	state atomic.Int64
	_     [15]int64
}

// CellTable is a [Table] whose slots hold the number of a cell.
type CellTable struct {
	table *Table
	cells []cell
	used  atomic.Int64
}

// NewCellTable returns a table for the given number of keys.
func NewCellTable(l Limit, keys int) *CellTable {
	return &CellTable{table: NewTable(l, keys), cells: make([]cell, keys+1)}
}

// Allow takes one token of the key's bucket if there is one.
func (t *CellTable) Allow(key string) bool {
	s := t.table.find(t.table.identity(key))
	n := s.state.Load()
	for n == 0 {
		s.state.CompareAndSwap(0, t.used.Add(1)) // who loses wastes a cell
		n = s.state.Load()
	}
	micros := int64(time.Since(t.table.base) / time.Microsecond)
	return t.table.limit.Take(&t.cells[n%int64(len(t.cells))].state, micros)
}
