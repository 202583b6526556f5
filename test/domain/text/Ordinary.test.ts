import { assert, describe, it } from "@effect/vitest"
import { isOrdinary } from "../../../src/domain/text/Ordinary.ts"

const ordinary = [
  "production",
  "PRODUCTION",
  "Authentication",
  "read-only",
  "us-east-1",
  "application/json",
  "text/event-stream",
  "Größe",
  "86400000",
  "-12.5",
  "2026-07-28",
  "2026-07-28T10:15:00.000Z",
  "127.0.0.1:8080",
  "/workspace",
  "/home/ada/3d-models/v2.10",
  "~/.config/super-pi/x",
  "./node_modules/.bin/server",
  "C:\\Users\\Ada\\notes",
  "/usr/local/bin:/usr/bin",
  "https://tracker.example.com/mcp",
  "http://127.0.0.1:3001/v2/items"
]

const secret = [
  "hunter2hunter2",
  "s3cr3t-token-0123456789",
  "sk-ant-api03-abcdefghij",
  "ghp_abcdefghijklmnopqrstuvwx0123",
  "correct horse battery staple",
  "mysecretpasswordislong",
  "aGVsbG8gd29ybGQ=",
  "/9j/4AAQSkZJRgABAQEASABIAAD",
  "/AbCdEf12GhIjKl34",
  "550e8400-e29b-41d4-a716-446655440000",
  "1234567890123456789012345",
  "pass word!",
  "Tr0ub4dor&3",
  "https://ada:hunter2@example.org/mcp",
  "https://example.org/mcp?key=abc",
  "https://hooks.example.com/services/T0AB12CD/B0EF34GH/abcdEFGHijklMNOP",
  "postgres://ada:pw@db/notes",
  "-----BEGIN PRIVATE KEY-----"
]

describe("a value of settings", () => {
  it.each(ordinary)("%s is ordinary", (value) => {
    assert.isTrue(isOrdinary(value))
  })
  it.each(secret)("%s may be a secret", (value) => {
    assert.isFalse(isOrdinary(value))
  })

  it("is judged in no time, however long it is", () => {
    const began = performance.now()
    for (const piece of ["a-", "1,", "/a", "Aa", "aB1", "1 1"]) isOrdinary(piece.repeat(100_000))
    assert.isBelow(performance.now() - began, 1_000)
  })
})
