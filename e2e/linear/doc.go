// Package linear shows that stores are linearizable: whatever many clients see
// of a store at the same time could have been seen by one after the other, each
// deciding by package algo at a known instant.
//
// Its tests record histories by a clock that stands still while clients are at
// work, and let porcupine look for an order. Stores that are broken on purpose
// prove that the tests can fail.
package linear
