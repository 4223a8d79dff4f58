FROM python:3.12-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'

COPY . /usr/local/src/fixer
RUN pip install --no-cache-dir --constraint /usr/local/src/fixer/constraints.txt "/usr/local/src/fixer[verify,bot]"

RUN useradd --create-home fixer
USER fixer
WORKDIR /project
ENTRYPOINT ["fixer"]
CMD ["check", "."]
