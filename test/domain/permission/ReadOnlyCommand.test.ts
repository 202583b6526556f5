import { assert, describe, it } from "@effect/vitest"
import { isReadOnlyLine, pathsRead } from "../../../src/domain/permission/ReadOnlyCommand.ts"
import { parseLine } from "../../../src/domain/permission/ShellLine.ts"

const place = { cwd: "/w", roots: ["/w"] }

const isReadOnly = (command: string, base = "/w", roots = ["/w"]) =>
  isReadOnlyLine(parseLine(command), base, { cwd: "/w", roots })

describe("ReadOnlyCommand", () => {
  for (const command of [
    "ls",
    "ls -la src",
    "cat a.txt | head -5 | sort -u | uniq -c",
    "git status",
    "git --no-pager log --oneline -5 HEAD~2..main",
    "git diff --stat -- src",
    "git branch -a",
    "grep -rn '/api/v1' src",
    "rg -n 'a|b' --glob '*.ts' src",
    "find . -name '*.ts' -newer x",
    "sed -n '10,20p' a.ts",
    "cd src && ls",
    "wc -l < a.txt",
    "ls 2>/dev/null",
    "ls 2>&1 | tail -3",
    "LANG=C sort a",
    "timeout 5 rg foo",
    "bash -c 'ls | wc -l'",
    "cat /w/a /dev/null",
    "[ -f a ] && echo yes",
    "date +%s",
    "kubectl get pods",
    "grep -rn foo *.ts src/*",
    "ls -la */",
    "find . -name '*.{ts,js}'",
    "grep -rn '{' .github/*"
  ]) {
    it(`reads only: ${command}`, () => assert.isTrue(isReadOnly(command)))
  }

  for (const command of [
    "",
    "lsof",
    "./ls",
    "/bin/ls",
    "ls > a",
    "ls >> a",
    "ls &> a",
    "echo x | tee a",
    "git",
    "git push",
    "git branch new",
    "git branch -D main",
    "git -c core.pager=x log",
    "git -C ../other status",
    "git --exec-path=/tmp status",
    "git log --output=a",
    "git log --outp=a",
    "git diff --ext-diff",
    "cd src && git status",
    "cd && cat .ssh/id_ed25519",
    "cd - && ls",
    "cd .. && ls",
    "find . -delete",
    "find . -exec rm {} +",
    "find . -fprint a",
    "find *",
    "sort -o a b",
    "sort -uo a b",
    "sort --outp=a b",
    "sort --compress-program=x b",
    "uniq a b",
    "date -s now",
    "date 01010000",
    "hostname other",
    "rg --pre x y",
    "rg --files /etc",
    "rg a /etc/passwd",
    "grep /etc/passwd /etc/passwd",
    "grep -e a /etc/passwd",
    "grep --file=/etc/passwd a",
    "grep -f/etc/passwd a",
    "cat /etc/passwd",
    "cat ../x",
    "cat ~/.ssh/id_ed25519",
    "wc < /etc/passwd",
    "cat $FILE",
    "cat $(echo a)",
    "ls; x=$(rm y)",
    "(ls)",
    "ls &",
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "test *",
    "PATH=. ls",
    "GIT_EXTERNAL_DIFF=x git diff",
    "PATH=.; ls",
    "sed -i s/a/b/ c",
    "sed -n '1w x' a",
    "sed -n '1,5p' -i a",
    "env",
    "sudo ls",
    "xargs ls",
    "sh",
    "kubectl get secrets",
    "kubectl delete pod x",
    "find . -{delete,print}",
    "sort --{output=a,unique} b",
    "rg --{pre=./x,column} y",
    "cat {/etc/passwd,a}",
    "cat {..,a}/b",
    "cat .*/b",
    "cat .?/b",
    "cat .[.]/b",
    "grep -[R] b .",
    "grep x *",
    "wc -l < .?/b",
    "cat /elsewhere/../w/b",
    "grep -R x .",
    "grep -nR x .",
    "grep --dereference-recursive x .",
    "rg -L x",
    "rg --follow x",
    "find -L .",
    "find . -follow",
    "find -files0-from a",
    "ls -RL",
    "du -L",
    "diff -r a b",
    "sort --files0-from=a",
    "wc --files0-from=a",
    "cd a && cd b && cd c && cd d && cd e && ls"
  ]) {
    it(`may do more: ${command}`, () => assert.isFalse(isReadOnly(command)))
  }

  it("what a line reads is told from every folder in which it may be", () => {
    const read = (command: string) => pathsRead(parseLine(command), "/w", place).named
    assert.deepStrictEqual(read("cat a b/../c '/w/d' < e | grep -n x f"), ["/w/a", "/w/b/../c", "/w/d", "/w/e", "/w/f"])
    assert.deepStrictEqual(read("cd sub && cat a"), ["/w/sub", "/w/a", "/w/sub/a"])
    assert.deepStrictEqual(read("rm a; cat b*/c"), ["/w/b*/c"])
  })

  it("what a line goes through is told with every folder in which it may be", () => {
    const deep = (command: string) => pathsRead(parseLine(command), "/w", place).deep
    for (const command of ["cat a", "ls -l", "grep x a", "wc -l a", "cat */a"]) {
      assert.deepStrictEqual(deep(command), [], command)
    }
    for (const command of ["rg x", "grep -r x", "grep -rn -A 3 x", "find -name x", "du -s", "ls -lR", "egrep -r x"]) {
      assert.include(deep(command), "/w", command)
    }
    assert.deepStrictEqual(deep("grep -r x src"), ["/w", "/w/src"])
    assert.deepStrictEqual(deep("cd sub && find a"), ["/w", "/w/sub", "/w/a", "/w/sub/a"])
  })

  it("every root may be read, from wherever the line runs", () => {
    const roots = ["/w", "/lib"]
    for (const command of ["cat /lib/a", "ls /lib", "cd /lib && cat a", "diff a /lib/a", "wc -l < /lib/a"]) {
      assert.isTrue(isReadOnly(command, "/w", roots), command)
      assert.isFalse(isReadOnly(command), command)
    }
    for (const command of ["cat /library/a", "cat /lib/../etc/a", "cat ../x", "cd /lib && git log"]) {
      assert.isFalse(isReadOnly(command, "/w", roots), command)
    }
    assert.deepStrictEqual(pathsRead(parseLine("cd /lib && cat a"), "/w", { cwd: "/w", roots }).named, [
      "/lib",
      "/w/a",
      "/lib/a"
    ])
  })

  it("git and other folders do not go together", () => {
    assert.isTrue(isReadOnly("ls", "/w/sub"))
    assert.isFalse(isReadOnly("git status", "/w/sub"))
    assert.isFalse(isReadOnly("ls", "/elsewhere"))
  })
})
