// Opens pages as browsers do, for page-cost.sh: node page-cost.mjs URL PAGES.
const [url, pages] = [process.argv[2], Number(process.argv[3])]
const views = [[], ['learning'], ['games', 'boards'], ['nets'], ['actors']]

async function page(of) {
  const response = await fetch(url + '/api/stream')
  const seen = {}
  let text = '', pictured = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))
      text = text.slice(end + 2)
      if (!data) continue
      const versions = JSON.parse(data[1]).versions
      for (const what of of) {
        if (seen[what] === versions[what]) continue
        seen[what] = versions[what]
        const answer = await (await fetch(`${url}/api/${what}`)).text()
        if (what !== 'nets') continue
        const { width, current } = JSON.parse(answer)
        if (width > 0 && current !== pictured) {
          pictured = current
          await (await fetch(`${url}/api/neurons/0?net=${current.slice(0, 8)}`)).arrayBuffer()
        }
      }
    }
  }
}
await Promise.all(Array.from({ length: pages }, (_, i) => page(views[i % views.length])))
